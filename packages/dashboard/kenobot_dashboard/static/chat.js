// Enter sends a message; the end of the chat stays in sight while an answer is written; files that are too large are named.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.target.id === "text" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

document.addEventListener("change", (event) => {
  if (event.target.id !== "files") return;
  const bytes = [...event.target.files].reduce((sum, file) => sum + file.size, 0);
  event.target.setCustomValidity(bytes > Number(event.target.dataset.most) ? event.target.dataset.tooLarge : "");
  event.target.reportValidity();
});

const log = document.getElementById("log");
const field = document.querySelector(".chat-form");
if (log && log.children.length > 0) window.scrollTo(0, document.documentElement.scrollHeight);
if (log && field) {
  const follow = () => window.scrollTo(0, document.documentElement.scrollHeight);
  new MutationObserver((changes) => {
    if (changes.some((each) => [...each.addedNodes].some((node) => node.classList?.contains("acts")))) return;
    follow();
  }).observe(log, { childList: true, subtree: true });
  new MutationObserver(() => document.getElementById("text")?.focus()).observe(field, { childList: true });
}
