// Words as chips, paraphrases without a new page, copying, and progress. The pages work without it.
"use strict";

const byId = (name) => document.getElementById(name);
// As the service splits a field; the comma of a number (1,000) is part of it.
const listOf = (input) => input.value.split(/[;\n]|(?<!\d),|,(?!\d)/).map((word) => word.trim()).filter(Boolean);
const same = (a, b) => a.toLocaleLowerCase() === b.toLocaleLowerCase();

// --- words of the sentence -----------------------------------------------------------------------

const STATES = ["none", "avoid", "use"];

function wordsOf(text) {
  const found = [];
  for (const token of text.split(/[\s;]+|(?<!\d),|,(?!\d)/u)) {
    const word = token.replace(/^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu, "");
    if (word && !found.some((each) => same(each, word))) found.push(word);
  }
  return found.slice(0, 80);
}

function bindChips(form) {
  const box = form.querySelector(".chips");
  const said = { none: "", avoid: ", to avoid", use: `, to ${form.dataset.use}` };
  const lists = { avoid: form.elements.avoid, use: form.elements.use };
  const stateOf = (word) => STATES.find((state) => state !== "none" && listOf(lists[state]).some((each) => same(each, word))) || "none";
  const show = (chip) => {
    const state = stateOf(chip.dataset.word);
    chip.dataset.state = state;
    chip.setAttribute("aria-pressed", String(state !== "none"));
    chip.setAttribute("aria-label", chip.dataset.word + said[state]);
    chip.textContent = { none: "", avoid: "− ", use: "+ " }[state] + chip.dataset.word;
  };
  const turn = (chip) => {
    const word = chip.dataset.word;
    const next = STATES[(STATES.indexOf(stateOf(word)) + 1) % STATES.length];
    for (const [name, input] of Object.entries(lists)) {
      const kept = listOf(input).filter((each) => !same(each, word));
      if (name === next) kept.push(word);
      input.value = kept.join(", ");
    }
    show(chip);
    byId("status").textContent = word + (said[next] || ", free");
  };
  const draw = () => {
    const words = wordsOf(form.elements.text.value);
    const shown = [...box.children].map((chip) => chip.dataset.word);
    byId("chips").hidden = words.length === 0;
    if (words.join(" ") === shown.join(" ")) return;
    box.replaceChildren(
      ...words.map((word) => {
        const chip = document.createElement("button");
        chip.type = "button";
        chip.className = "chip";
        chip.dir = "auto";
        if (form.elements.text.lang) chip.lang = form.elements.text.lang;
        chip.dataset.word = word;
        chip.addEventListener("click", () => turn(chip));
        show(chip);
        return chip;
      }),
    );
  };
  form.elements.text.addEventListener("input", draw);
  const showAll = () => [...box.children].forEach(show);
  for (const input of Object.values(lists)) input.addEventListener("input", showAll);
  // Who comes back finds what they wrote; browsers fill it in after this script has run.
  addEventListener("pageshow", () => {
    draw();
    showAll();
  });
}

// --- paraphrases ---------------------------------------------------------------------------------

let asking = null;

async function ask(form) {
  const results = byId("results");
  const button = form.querySelector("button[type=submit]");
  if (asking) asking.abort();
  const mine = (asking = new AbortController());
  results.setAttribute("aria-busy", "true");
  button.setAttribute("aria-busy", "true");
  byId("status").textContent = "Searching";
  try {
    const answer = await fetch("/results", { method: "POST", body: new URLSearchParams(new FormData(form)), signal: mine.signal });
    const page = await answer.text();
    if (answer.headers.get("content-type").startsWith("text/html")) results.innerHTML = page;
    else fail(results, JSON.parse(page).error);
  } catch (error) {
    if (error.name === "AbortError") return;
    fail(results, "The service can't be reached; try again later.");
  }
  asking = null;
  results.hidden = false;
  results.removeAttribute("aria-busy");
  button.removeAttribute("aria-busy");
  const heading = results.querySelector("h2");
  byId("status").textContent = heading ? heading.textContent : "";
  bindCopies(results);
  results.scrollIntoView({ block: "nearest" });
}

function fail(results, text) {
  const fault = document.createElement("p");
  fault.className = "fault";
  fault.setAttribute("role", "alert");
  fault.textContent = text;
  results.replaceChildren(fault);
}

function bindCopies(results) {
  if (!navigator.clipboard) return; // a page that is not on this machine and not encrypted has none
  for (const button of results.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      byId("status").textContent = "Copied";
      button.firstChild.textContent = "Copied";
      setTimeout(() => (button.firstChild.textContent = "Copy"), 2000);
    });
  }
}

// --- files ---------------------------------------------------------------------------------------

function watch(card) {
  const timer = setInterval(async () => {
    let file;
    try {
      const answer = await fetch(`/api/batch/${encodeURIComponent(card.dataset.id)}`);
      // The service may have been started again, and knows the file no more: the page says so.
      if (answer.status === 404) file = { state: "gone" };
      else if (!answer.ok) throw new Error(answer.status);
      else file = await answer.json();
    } catch {
      return; // it is asked again
    }
    if (file.state !== "running") {
      clearInterval(timer);
      location.reload();
      return;
    }
    byId("done").value = file.done;
    byId("count").textContent = file.done;
  }, 700);
}

const form = byId("ask");
if (form) {
  bindChips(form);
  bindCopies(byId("results"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form);
  });
}
const card = byId("file-state");
if (card && card.dataset.state === "running") watch(card);
