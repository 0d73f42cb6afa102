// The parts in their order; then the page is ready.

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let themeIsChosen = false;
setTheme(systemIsDark.matches);
drawFrontier();
drawVectors();
drawDigit();
drawBoard();
systemIsDark.addEventListener("change", () => themeIsChosen || setTheme(systemIsDark.matches));
byId("theme").addEventListener("click", () => {
  themeIsChosen = true;
  setTheme(document.documentElement.dataset.theme !== "dark");
});
document.documentElement.dataset.ready = "true";
