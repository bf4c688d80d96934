"use strict";
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const entries = byId("entries"), articles = all("article"), links = all("a[data-to]"), chapters = all("#chapters > ol > li");
const dated = all("[data-in]").map((e) => [e, numbers(e.dataset.in)]);
const opened = new Map(all("[data-opens]").map((e) => [e, numbers(e.dataset.opens)]));
const targets = JSON.parse(byId("targets").dataset.targets);
const limit = byId("limit"), search = byId("search"), last = Number(limit.dataset.last);
const titles = new Map(chapters.map((c) => [c.dataset.thread, c.querySelector("h3").textContent]));
// The slider stops before the story and at the ends of chapters, or at scenes where no chapters are known.
const stops = [0, ...(chapters.length ? chapters.map((c) => Number(c.dataset.to)) : Array.from({ length: last }, (_, i) => i + 1))];
stops[stops.length - 1] = last;
let scene = last;

// It begins where the reader left it, or before the story. A page that was made with a limit begins there.
const place = document.title + " " + last;
function remembered() {
  if ("chosen" in limit.dataset) return stops.length - 1;
  try {
    return Number(localStorage.getItem(place)) || 0;
  } catch {
    return 0;
  }
}
function remember() {
  try {
    localStorage.setItem(place, limit.value);
  } catch {
    // The browser keeps nothing for this page.
  }
}

function numbers(text) { return text.split(" ").map(Number); }

// Scenes are from which something is in force, until which it is, from which it is again, and so on.
function inForce(scenes) { return scenes.filter((s) => s <= scene).length % 2 === 1; }

// opens returns the rank of a fact among those that open its entry; 0: it does not. Scenes and ranks are in turn.
function opens(e) {
  return (opened.get(e) || []).reduce((rank, n, i, list) => i % 2 && list[i - 1] <= scene ? n : rank, 0);
}

const titleOf = (article) => article.querySelector("h2 span:not([hidden])");
const nameOf = (article) => titleOf(article).textContent;
const known = () => articles.filter((a) => a.dataset.known === "true");
const claimsOf = (article) => all(".facts > li[data-n]:not([hidden])", article);
const visible = (e) => !e.closest("[hidden]");

// order compares facts as they are read: what opens the entry, its present statement, the others as they are told.
function order(a, b) {
  const key = (e) => e.className === "present" ? [1, 0] : opens(e) ? [0, opens(e)] : [2, Number(e.dataset.n)];
  const [x, y] = [key(a), key(b)];
  return x[0] - y[0] || x[1] - y[1];
}

function element(name, text, href) {
  const e = document.createElement(name);
  e.textContent = text;
  if (href) e.href = href;
  return e;
}

// arrange sorts the facts of an entry, with headings of chapters and of names under which the entry was known.
function arrange(article) {
  const list = article.querySelector(".facts"), title = nameOf(article).toLowerCase(), spans = new Map();
  for (const e of all(".heading", list)) e.remove();
  list.append(...[...list.children].sort(order));
  for (const c of claimsOf(article)) {
    if (!c.dataset.as || c.dataset.as.toLowerCase() === title) continue;
    const at = Number(c.dataset.from), [from, to] = spans.get(c.dataset.as) || [at, at];
    spans.set(c.dataset.as, [Math.min(from, at), Math.max(to, at)]);
  }
  const told = claimsOf(article).filter((c) => !opens(c));
  const several = new Set(told.map((c) => c.dataset.thread)).size > 1;
  let thread = null, as;
  for (const c of told) {
    const span = spans.get(c.dataset.as);
    const name = span ? "as " + c.dataset.as + ", " + (span[0] < span[1] ? "scenes " + span[0] + " to " + span[1] : "scene " + span[0]) : undefined;
    const heading = [];
    if (several && c.dataset.thread !== thread && titles.get(c.dataset.thread)) {
      heading.push(titles.get(c.dataset.thread));
      as = undefined;
    }
    if (name !== as) heading.push(name || "as " + nameOf(article));
    [thread, as] = [c.dataset.thread, name];
    if (!heading.length) continue;
    const e = element("li", heading.join(", "));
    e.className = "heading";
    list.insertBefore(e, c);
  }
}

// column returns the column of the cast for an entry.
function column(article) {
  const tags = all(".tag:not([hidden])", article).map((e) => e.textContent), has = (...list) => tags.some((t) => list.includes(t));
  if (has("person", "character", "creature")) return "People";
  if (has("place", "location")) return "Places";
  if (has("group", "faction", "organization")) return "Groups";
  return has("event") ? "Events" : "Things";
}

// linksTo returns links to entries, those with the most facts first.
function linksTo(list, most) {
  const sorted = list.map((a) => [a, claimsOf(a).length]).sort((a, b) => b[1] - a[1]).slice(0, most);
  return sorted.map(([a]) => element("a", nameOf(a), "#" + a.id));
}

function front() {
  byId("cast").replaceChildren(...["People", "Places", "Groups", "Things", "Events"].flatMap((name) => {
    const found = known().filter((a) => column(a) === name);
    if (!found.length) return [];
    const part = element("section", ""), list = element("ul", "");
    list.append(...linksTo(found, 12).map((a) => {
      const item = element("li", "");
      item.append(a);
      return item;
    }));
    part.append(element("h3", name), list);
    return [part];
  }));
}

function listChapters() {
  for (const c of chapters) {
    c.hidden = Number(c.dataset.from) > scene;
    if (c.hidden) continue;
    const here = known().filter((a) => claimsOf(a).some((f) => f.dataset.thread === c.dataset.thread));
    const who = c.querySelector(".who");
    who.replaceChildren();
    for (const a of linksTo(here, 12)) who.append(a, " ");
  }
}

// move shows the codex as of the end of a chapter.
function move() {
  const at = Number(limit.value);
  scene = stops[at];
  const end = chapters.length && at ? chapters[at - 1].querySelector("h3").textContent : "scene " + scene;
  byId("scene").value = at ? "to the end of " + end : "not begun";
  byId("where").hidden = at > 0;
  if (byId("told")) byId("told").hidden = !all("#front > p[data-in]").some((p) => !p.hidden);
  for (const [e, scenes] of dated) e.hidden = !inForce(scenes);
  for (const a of links) {
    const target = targets[a.dataset.to].find((t) => inForce(t.in));
    if (target) a.href = "#e" + target.entry;
    else a.removeAttribute("href");
  }
  for (const a of articles) a.dataset.known = !a.hidden;
  const ranks = new Map(known().map((a) => [a, Number(titleOf(a).dataset.rank)]));
  entries.append(...[...ranks.keys()].sort((a, b) => ranks.get(a) - ranks.get(b)));
  show();
}

// show shows what the address names: the front page, the entries that the search finds, the chapters, or one entry.
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), hash = decodeURIComponent(location.hash.slice(1));
  const one = articles.find((a) => a.id === hash), view = words.length || one || hash === "entries" ? "entries" : hash === "chapters" ? "chapters" : "front";
  for (const id of ["front", "entries", "chapters"]) byId(id).hidden = id !== view;
  entries.className = words.length || !one ? "cards" : "";
  let count = 0;
  for (const a of articles) {
    const text = () => all("h2 span, .tag, .alias, .present, .fact, blockquote", a).filter((e) => e.closest("[hidden]") === null || e.closest("[hidden]") === a || e.closest("[hidden]") === entries).map((e) => e.textContent).join(" ").toLowerCase();
    a.hidden = true;
    if (a.dataset.known !== "true") continue;
    a.hidden = words.length ? !words.every((w) => text().includes(w)) : Boolean(one) && a !== one;
    if (a.hidden) continue;
    count++;
    for (const e of all(".gist", a)) e.classList.remove("gist");
    if (entries.className === "cards") claimsOf(a).concat(all(".present:not([hidden])", a)).sort(order)[0]?.classList.add("gist");
    else arrange(a);
  }
  byId("count").textContent = (words.length ? count + " found of " : "") + known().length + " entries" + (scene ? ", as of scene " + scene : "");
  byId("gone").hidden = !(one && one.dataset.known !== "true" && !words.length);
  if (view === "front") front();
  if (view === "chapters") listChapters();
}

limit.max = stops.length - 1;
limit.value = remembered();
document.body.className = "scripted";
byId("controls").hidden = false;
byId("controls").addEventListener("submit", (e) => e.preventDefault());
limit.addEventListener("input", () => { remember(); move(); });
search.addEventListener("input", show);
window.addEventListener("hashchange", () => { search.value = ""; show(); window.scrollTo(0, 0); });
move();
