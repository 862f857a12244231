// discord.js as a bot of its own: it logs in, registers commands, answers what people do, and tells what
// the server shows of commands and of the messages in a channel.
import { AttachmentBuilder, Client, Events, GatewayIntentBits, MessageFlags } from "discord.js";
import { ended, fail, tell } from "./lines.mjs";

const { API_URL, BOT_TOKEN, CHANNEL, MODE, PICTURE } = process.env;
const client = new Client({ intents: [GatewayIntentBits.Guilds], rest: { api: `${API_URL}/api`, version: "10", retries: 0 } });

const button = (label, id) => ({ type: 1, components: [{ type: 2, style: 1, label, custom_id: id }] });

async function answer(interaction) {
  if (interaction.isAutocomplete()) {
    const typed = interaction.options.getFocused();
    await interaction.respond([`${typed}-small`, `${typed}-large`].map((name) => ({ name, value: name })));
  } else if (interaction.isChatInputCommand()) {
    await interaction.deferReply();
    const file = new AttachmentBuilder(Buffer.from(PICTURE, "base64"), { name: "picture.png", description: "what was asked for" });
    await interaction.editReply({
      content: `painted ${interaction.options.getString("prompt")} in ${interaction.options.getInteger("steps")} steps`,
      files: [file], components: [button("Name", "name")], allowedMentions: { parse: [] },
    });
    await interaction.followUp({ content: `only for ${interaction.user.globalName}`, flags: MessageFlags.Ephemeral });
  } else if (interaction.isMessageContextMenuCommand()) {
    await interaction.reply({ content: `used ${interaction.targetMessage.attachments.first().name}`, flags: MessageFlags.Ephemeral });
  } else if (interaction.isButton()) {
    await interaction.showModal({
      custom_id: "form", title: "Name it",
      components: [{ type: 18, label: "Name", component: { type: 4, custom_id: "name", style: 1, required: true } }],
    });
  } else if (interaction.isModalSubmit()) {
    await interaction.update({ content: `named ${interaction.fields.getTextInputValue("name")}`, components: [] });
  }
  tell("answered", { type: interaction.type });
}

// show tells the commands and messages as this client reads them.
async function show() {
  const commands = await client.application.commands.fetch({ withLocalizations: true });
  const channel = await client.channels.fetch(CHANNEL);
  const messages = await channel.messages.fetch({ limit: 50 });
  tell("shown", {
    commands: [...commands.values()].map((c) => ({
      name: c.name, type: c.type, description: c.description,
      options: c.options.map((o) => ({ name: o.name, type: o.type, required: o.required ?? false, autocomplete: o.autocomplete ?? false, choices: (o.choices ?? []).length })),
    })),
    messages: [...messages.values()].reverse().map((m) => ({
      content: m.content, bot: m.author.bot, files: [...m.attachments.values()].map((a) => `${a.name} ${a.size} ${a.description ?? ""}`),
      buttons: m.components.flatMap((row) => row.components.filter((c) => c.type === 2).map((c) => c.label ?? "")),
    })),
  });
}

client.on(Events.Error, fail);
if (MODE === "answer") client.on(Events.InteractionCreate, (i) => answer(i).catch(fail));
client.once(Events.ClientReady, async () => {
  try {
    if (MODE === "answer") {
      await client.application.commands.set([
        {
          name: "paint", description: "Paints.", descriptionLocalizations: { de: "Malt." },
          options: [
            { type: 3, name: "prompt", description: "What.", required: true },
            { type: 4, name: "steps", description: "How long.", minValue: 1, maxValue: 50 },
            { type: 3, name: "model", description: "With what.", autocomplete: true },
          ],
        },
        { name: "Use with", type: 3 },
      ]);
    }
    await show();
    tell("ready", { user: client.user.id, guilds: client.guilds.cache.map((g) => g.name) });
  } catch (error) {
    fail(error);
  }
});
await client.login(BOT_TOKEN);
await ended;
await client.destroy();
