"use strict";
const byId = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
const main = document.querySelector("main"), articles = all("article"), links = all("a[data-to]");
const dated = all("[data-in]").map((e) => [e, e.dataset.in.split(" ").map(Number)]);
const targets = JSON.parse(byId("targets").dataset.targets);
const limit = byId("limit"), search = byId("search");

// Scenes are from which something is in force, until which it is, from which it is again, and so on.
const inForce = (scenes, scene) => scenes.filter((s) => s <= scene).length % 2 === 1;

function rank(article) {
  const title = article.querySelector("h2 > :not([hidden])");
  return title ? Number(title.dataset.rank) : 0;
}

function move() {
  const scene = Number(limit.value);
  byId("scene").value = scene;
  for (const [e, scenes] of dated) e.hidden = !inForce(scenes, scene);
  for (const a of links) {
    const target = targets[a.dataset.to].find((t) => inForce(t.in, scene));
    if (target) a.href = "#e" + target.entry;
    else a.removeAttribute("href");
  }
  const ranks = new Map(articles.map((a) => [a, rank(a)]));
  for (const a of articles.sort((a, b) => ranks.get(a) - ranks.get(b))) main.append(a);
  for (const a of articles) a.dataset.known = !a.hidden;
  find();
}

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const a of articles) {
    if (a.dataset.known === "false") continue;
    a.hidden = false;
    if (words.length) {
      const shown = [...a.querySelectorAll("h2 > span, .tag, .alias, .present, .fact, blockquote")].filter((e) => !e.closest("[hidden]"));
      const text = shown.map((e) => e.textContent).join(" ").toLowerCase();
      a.hidden = !words.every((w) => text.includes(w));
    }
    if (!a.hidden) count++;
  }
  byId("count").textContent = count + (count === 1 ? " entry" : " entries") + ", as of scene " + limit.value;
}

byId("controls").hidden = false;
byId("controls").addEventListener("submit", (e) => e.preventDefault());
limit.addEventListener("input", move);
search.addEventListener("input", find);
move();
