// Enter sends a message; the end of the chat stays in sight while an answer is written.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.target.id === "text" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

const log = document.getElementById("log");
const field = document.querySelector(".chat-form");
if (log && field) {
  const follow = () => window.scrollTo(0, document.documentElement.scrollHeight);
  new MutationObserver(follow).observe(log, { childList: true, subtree: true });
  if (log.children.length > 0) follow();
  new MutationObserver(() => document.getElementById("text")?.focus()).observe(field, { childList: true });
}
