import { createStore } from '#console/api/store.ts'

/** Stored in the browser. `theme.js` applies theme and density before anything is drawn. */
function preference(name: string, isOfPage: boolean) {
  const store = createStore(localStorage.getItem(name) ?? '')
  store.subscribe(() => {
    const value = store.get()
    if (value === '') localStorage.removeItem(name)
    else localStorage.setItem(name, value)
    if (!isOfPage) return
    if (value === '') delete document.documentElement.dataset[name]
    else document.documentElement.dataset[name] = value
  })
  return store
}

/** `light`, `dark`, or empty for the system's. */
export const theme = preference('theme', true)
/** `compact`, or empty. */
export const density = preference('density', true)
/** `off` disables shortcuts of single letters (WCAG 2.1.4). */
export const singleKeys = preference('single-keys', false)
