// The pages as a Mini App of Telegram. The few events are posted as core.telegram.org/api/web-events describes them, so that no
// script of another site runs here. The script is loaded before the page is drawn: its colours are there from the start.
(() => {
  const framer = "https://web.telegram.org";
  const root = document.documentElement;
  root.classList.add("app");

  const post = (type, data = {}) => {
    if (window.TelegramWebviewProxy) window.TelegramWebviewProxy.postEvent(type, JSON.stringify(data));
    else if (window.external && "notify" in window.external) window.external.notify(JSON.stringify({ eventType: type, eventData: data }));
    else if (window.parent !== window) window.parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), framer);
  };

  const kept = (name, value) => {
    if (value) sessionStorage.setItem(name, value);
    return sessionStorage.getItem(name) ?? "";
  };

  // A colour that is none is left out: it comes from outside.
  const paint = (theme) => {
    for (const [name, value] of Object.entries(theme ?? {}))
      if (/^[a-z_]+$/.test(name) && /^#[0-9a-f]{6}$/i.test(value)) root.style.setProperty("--tg-theme-" + name.replaceAll("_", "-"), value);
    const ground = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(theme?.bg_color ?? "");
    if (!ground) return;
    const [r, g, b] = ground.slice(1).map((part) => parseInt(part, 16));
    root.style.colorScheme = 0.3 * r + 0.6 * g + 0.1 * b < 128 ? "dark" : "light";
    root.classList.add("themed");
  };

  const themeIn = (text) => {
    try { return JSON.parse(text || "{}"); } catch { return {}; }
  };

  const launch = new URLSearchParams(location.hash.slice(1));
  paint(themeIn(kept("tg-theme", launch.get("tgWebAppThemeParams"))));

  const handlers = {
    theme_changed: (data) => paint(themeIn(kept("tg-theme", JSON.stringify(data?.theme_params ?? {})))),
    viewport_changed: (data) => { if (data?.height > 0) root.style.setProperty("--tg-viewport-height", data.height + "px"); },
    back_button_pressed: () => (history.length > 1 ? history.back() : location.assign("/")),
    main_button_pressed: () => document.getElementById("start")?.click(),
  };
  const receive = (type, data) => handlers[type]?.(data);
  window.Telegram = { WebView: { receiveEvent: receive } };
  window.TelegramGameProxy = { receiveEvent: receive };
  window.TelegramGameProxy_receiveEvent = receive;
  window.addEventListener("message", (e) => {
    if (e.source !== window.parent || e.origin !== framer) return;
    const said = themeIn(e.data);
    receive(said.eventType, said.eventData);
  });

  // The main button is the form's own one, which is hidden as long as Telegram shows it.
  const mainButton = (start) => {
    const style = getComputedStyle(root);
    const colour = (name) => { const value = style.getPropertyValue("--tg-theme-" + name).trim(); return value || undefined; };
    const show = () => post("web_app_setup_main_button", {
      is_visible: true, is_active: !start.disabled, is_progress_visible: false, text: start.textContent.trim(), color: colour("button-color"), text_color: colour("button-text-color"),
    });
    show();
    new MutationObserver(show).observe(start, { attributes: true, childList: true, characterData: true, subtree: true });
    root.classList.add("mainbutton");
  };

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.getElementById("miniapp");
    const data = launch.get("tgWebAppData");
    if (form && data) {
      document.getElementById("outside").hidden = true;
      form.elements.data.value = data;
      history.replaceState(null, "", location.pathname);
      form.requestSubmit();
    }
    post("web_app_ready");
    post("web_app_expand");
    post("web_app_request_theme");
    post("web_app_request_viewport");
    post("web_app_setup_back_button", { is_visible: !form && location.pathname !== "/" });
    const start = document.getElementById("start");
    if (start) mainButton(start);
    else post("web_app_setup_main_button", { is_visible: false });
  });
})();
