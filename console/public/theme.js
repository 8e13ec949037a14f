// Runs before anything is drawn, so that the page never flashes in the other theme.
for (const name of ['theme', 'density']) {
  const value = localStorage.getItem(name)
  if (value !== null) document.documentElement.dataset[name] = value
}
