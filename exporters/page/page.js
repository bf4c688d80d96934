
"use strict";
const byId = (id) => document.getElementById(id);
const articles = [...document.querySelectorAll("article")];
const dated = [...document.querySelectorAll("[data-from]")];
const ends = [...document.querySelectorAll("[data-until]")];
const titles = [...document.querySelectorAll("h2")].map((h) => [h, JSON.parse(h.dataset.names)]);
const limit = byId("limit"), search = byId("search");

// An entry goes by the newest of its names that the story has told by then.
function nameAt(names, scene) {
  const known = names.filter((n) => n.from <= scene);
  return (known.length ? known[known.length - 1] : names[0]).name;
}

function show() {
  const scene = Number(limit.value), words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  byId("scene").value = scene;
  for (const e of dated) e.hidden = Number(e.dataset.from) > scene;
  for (const e of ends) {
    const ended = Number(e.dataset.until) <= scene;
    e.classList.toggle("ended", ended);
    e.querySelector(".until").hidden = !ended;
  }
  for (const [h, names] of titles) h.textContent = nameAt(names, scene);
  let count = 0;
  for (const a of articles) {
    if (a.hidden) continue;
    if (words.length) {
      const shown = [...a.querySelectorAll("h2, .tag, .alias, li")].filter((e) => !e.hidden).map((e) => e.textContent).join(" ").toLowerCase();
      a.hidden = !words.every((w) => shown.includes(w));
    }
    if (!a.hidden) count++;
  }
  byId("count").textContent = count + (count === 1 ? " entry" : " entries") + ", as of scene " + scene;
}

byId("controls").hidden = false;
byId("controls").addEventListener("submit", (e) => e.preventDefault());
for (const control of [limit, search]) control.addEventListener("input", show);
show();
