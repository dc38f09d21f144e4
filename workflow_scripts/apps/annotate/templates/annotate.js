// Sliders beside the numbers, and keys. Without this script the pages work by numbers and buttons.
"use strict";

const form = document.querySelector("main form");
const mode = document.body.dataset.mode;

// A slider that nobody moved has no value: the number beside it is what is sent.
function bindSlider(card) {
  const slider = card.querySelector(".slider");
  const number = card.querySelector("input[type=number]");
  const nonsensical = card.querySelector("[name^=nonsensical]");
  const show = () => {
    slider.classList.toggle("unset", number.value === "");
    slider.setAttribute("aria-valuetext", number.value === "" ? "not judged" : number.value);
    slider.disabled = number.disabled = nonsensical.checked;
  };
  const take = () => {
    number.value = slider.value;
    show();
  };
  slider.hidden = false;
  if (number.value !== "") slider.value = number.value;
  slider.addEventListener("input", take);
  slider.addEventListener("click", take); // also in the middle, where it stood before
  number.addEventListener("input", () => {
    if (number.value !== "") slider.value = number.value;
    show();
  });
  nonsensical.addEventListener("change", show);
  show();
}

function currentCard() {
  return document.activeElement.closest(".card") || document.querySelector(".card[data-number]");
}

function similarityKey(key) {
  const card = document.querySelector(`.card[data-number="${CSS.escape(key)}"]`);
  if (card) {
    const slider = card.querySelector(".slider");
    (slider.disabled ? card.querySelector("[name^=nonsensical]") : slider).focus();
    card.scrollIntoView({ block: "nearest" });
    return true;
  }
  const box = { u: "ungrammatical", n: "nonsensical" }[key];
  if (!box) return false;
  const input = currentCard().querySelector(`[name^=${box}]`);
  input.click();
  input.focus();
  return true;
}

function labelKey(key) {
  const button = [...form.querySelectorAll("[data-keys]")].find((each) => each.dataset.keys.includes(key));
  if (button) button.click();
  return Boolean(button);
}

function strengthKey(key) {
  if (!"123".includes(key)) return false;
  const groups = [...form.querySelectorAll("[data-mark]")];
  // One after the other, also on a page that was answered before.
  const group = groups.find((each) => !each.dataset.marked) || groups[0];
  const input = group.querySelector(`[value="${key}"]`);
  input.checked = true;
  input.focus();
  group.dataset.marked = "yes";
  if (groups.every((each) => each.dataset.marked)) form.requestSubmit();
  return true;
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  const active = document.activeElement;
  const typing = active.matches("input[type=number], input[type=text]");
  const key = event.key.toLowerCase();
  let done = false;
  if (key === "enter" && active.matches("input[type=checkbox], input[type=radio], .slider")) {
    form.requestSubmit();
    done = true;
  } else if (key === "backspace" && !typing && mode !== "similarity") {
    const before = document.getElementById("before");
    if (before) before.click();
    done = Boolean(before);
  } else if (key.length === 1 && !typing) {
    done = { similarity: similarityKey, labels: labelKey, strength: strengthKey }[mode](key);
  } else if (typing && mode === "similarity" && (key === "u" || key === "n")) {
    done = similarityKey(key); // no letter belongs into a number
  }
  if (done) event.preventDefault();
}

if (form && form.querySelector(".slider, [data-keys], [data-mark]")) {
  document.body.classList.add("with-sliders");
  document.querySelectorAll(".card[data-number]").forEach(bindSlider);
  document.addEventListener("keydown", onKey);
  form.addEventListener("change", (event) => {
    const group = event.target.closest("[data-mark]");
    if (group) group.dataset.marked = "yes";
  });
  // One answer is sent once: a second press while the first is on its way does nothing.
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", () => delete form.dataset.sent);
  const fault = document.getElementById("faults");
  const first = document.querySelector(".faulty .slider") || document.querySelector(".slider");
  if (fault) fault.scrollIntoView();
  if (first) first.focus({ preventScroll: !document.querySelector(".faulty") });
}
