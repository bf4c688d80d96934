// The pages work without this file. It keeps the state of a run up to date, shows cards over names in the text, suggests
// names in the search box, copies links, and adds keys.
"use strict";

const live = document.querySelector("[data-live]");
if (live) {
  const source = new EventSource(live.dataset.live);
  source.addEventListener("state", (event) => {
    if (!live.contains(document.activeElement)) {
      live.innerHTML = event.data; // made and escaped by the server
    }
  });
  addEventListener("pagehide", () => source.close());
}

// Cards: who is named, as of the place in the text.
const book = document.querySelector(".book");
if (book) {
  const card = document.createElement("div");
  card.className = "hover-card";
  card.id = "hover-card";
  card.setAttribute("role", "status");
  card.hidden = true;
  document.body.append(card);
  const texts = new Map(); // by address
  const hovers = matchMedia("(hover: hover)");
  let over = null, timer = 0;

  const address = (name) => {
    const url = new URL(name.href), scene = name.closest("[data-scene]");
    if (!scene || !/\/entry\/\d+$/.test(url.pathname)) return "";
    if (name.dataset.entry) url.pathname = url.pathname.replace(/\d+$/, name.dataset.entry);
    url.pathname += "/card";
    url.searchParams.set("at", scene.dataset.scene);
    return url.pathname + url.search;
  };
  const hide = () => { card.hidden = true; over?.removeAttribute("aria-describedby"); over = null; };
  const place = (name) => {
    const box = name.getClientRects()[0];
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - card.offsetWidth - 8));
    const below = box.bottom + card.offsetHeight + 8 < innerHeight || box.top < card.offsetHeight + 8;
    card.style.left = `${left + scrollX}px`;
    card.style.top = `${(below ? box.bottom + 6 : box.top - card.offsetHeight - 6) + scrollY}px`;
  };
  const show = async (name) => {
    const from = address(name);
    if (!from) return;
    over = name;
    if (!texts.has(from)) {
      const answer = await fetch(from);
      texts.set(from, answer.ok ? await answer.text() : "");
    }
    if (over !== name || !texts.get(from)) return;
    card.innerHTML = texts.get(from); // made and escaped by the server
    card.hidden = false;
    name.setAttribute("aria-describedby", card.id);
    place(name);
  };
  const later = (does, time) => { clearTimeout(timer); timer = setTimeout(does, time); };
  const named = (target) => target.closest?.(".book a.name");

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const name = named(event.target);
    if (name) later(() => show(name), 200);
    else if (!card.contains(event.target)) later(hide, 250);
    else clearTimeout(timer);
  });
  document.addEventListener("focusin", (event) => {
    const name = named(event.target);
    if (name?.matches(":focus-visible")) show(name); // by the keyboard, not by a tap
    else if (!card.contains(event.target)) hide();
  });
  document.addEventListener("click", (event) => {
    const name = named(event.target);
    if (name && !hovers.matches && over !== name && address(name)) { // a tap shows the card, a second one follows the link
      event.preventDefault();
      show(name);
    } else if (!name && !card.contains(event.target)) hide();
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

// Names that begin with what is typed.
document.querySelectorAll("[data-suggest]").forEach((find, index) => {
  const list = document.createElement("datalist");
  list.id = `names-${index}`;
  document.body.append(list);
  find.setAttribute("list", list.id);
  let timer = 0, asked = 0;
  find.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const typed = find.value.trim(), number = ++asked;
      if (typed.length < 2) return;
      const url = new URL(find.dataset.suggest, location.href);
      url.searchParams.set("begins", typed);
      url.searchParams.set("format", "json");
      const answer = await fetch(url);
      if (!answer.ok || number !== asked) return;
      const found = await answer.json();
      list.replaceChildren(...found.names.map((name) => new Option(name)));
    }, 150);
  });
});

// A button copies a link, where the browser allows it.
const copy = document.querySelector("[data-copy]");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).value);
    copy.textContent = "Copied";
  });
}

// Keys: / searches, the arrows turn pages, j and k go through scenes and facts.
const steps = () => [...document.querySelectorAll(".book .scene, .fact, .chapters > li, .cards > li")];
const keys = {
  "/": () => document.getElementById("find")?.focus(),
  "ArrowLeft": () => document.querySelector("a[rel=prev]")?.click(),
  "ArrowRight": () => {
    const next = document.querySelector("a[rel=next]");
    const on = document.querySelector(".read-on button");
    if (next) next.click();
    else { on?.focus(); on?.scrollIntoView({ block: "center" }); }
  },
  "j": () => steps().find((step) => step.getBoundingClientRect().top > 24)?.scrollIntoView(),
  "k": () => steps().reverse().find((step) => step.getBoundingClientRect().top < -4)?.scrollIntoView(),
};

// The letters of a review press its buttons, or lead to its fields.
addEventListener("keydown", (event) => {
  const answer = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!answer || event.target.closest?.("input:not([type=checkbox]), textarea, select")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (answer.matches("input:not([type=checkbox])")) answer.focus();
  else answer.click();
});
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
