// grammY as a bot of its own: it polls, answers commands with media and buttons, and answers the presses;
// or it only tells what it sees of commands and of the messages whose buttons are pressed.
import { Bot, InlineKeyboard, InputFile } from "grammy";
import { ended, fail, tell } from "./lines.mjs";

const { API_URL, BOT_TOKEN, MODE, PICTURE, SCOPE = "default" } = process.env;
const bot = new Bot(BOT_TOKEN, { client: { apiRoot: API_URL } });

if (MODE === "answer") {
  bot.command("paint", async (ctx) => {
    const keyboard = new InlineKeyboard().text("Again", "again");
    await ctx.replyWithPhoto(new InputFile(Buffer.from(PICTURE, "base64"), "picture.png"), { caption: `painted ${ctx.match}`, reply_markup: keyboard });
    tell("answered", { type: "command" });
  });
  bot.callbackQuery("again", async (ctx) => {
    await ctx.answerCallbackQuery({ text: "at once" });
    await ctx.editMessageCaption({ caption: "painted again" });
    tell("answered", { type: "press" });
  });
} else {
  bot.on("callback_query:data", async (ctx) => {
    const message = ctx.callbackQuery.message;
    tell("pressed", {
      text: message.text ?? message.caption, photo: (message.photo ?? []).length > 0, data: ctx.callbackQuery.data,
      buttons: message.reply_markup.inline_keyboard.flat().map((b) => b.text),
    });
    await ctx.answerCallbackQuery();
  });
}

bot.catch(fail);
await bot.init();
if (MODE === "answer") await bot.api.setMyCommands([{ command: "paint", description: "Paints." }]);
const commands = await bot.api.getMyCommands({ scope: { type: SCOPE } });
tell("ready", { user: bot.botInfo.username, commands: commands.map((c) => `${c.command}: ${c.description}`) });
const running = bot.start({ drop_pending_updates: false });
await ended;
await bot.stop();
await running;
