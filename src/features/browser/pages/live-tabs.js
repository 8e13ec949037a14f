/**
 * The list of tabs (ARIA's pattern of manually activated tabs): arrows move within it, Enter and Space
 * activate, Delete closes.
 */
export function createTabs(list, { mayDrive, activate, close }) {
  let tabs = []
  let activeId
  /** The tab that is reachable with the Tab key. */
  let reachableId

  list.addEventListener('keydown', event => {
    const at = tabs.findIndex(({ pageId }) => pageId === idOf(event.target))
    const last = tabs.length - 1
    const next = {
      ArrowLeft: at === 0 ? last : at - 1,
      ArrowRight: at === last ? 0 : at + 1,
      Home: 0,
      End: last,
    }
    if (event.key in next) move(tabs[next[event.key]]?.pageId)
    else if (event.key === 'Enter' || event.key === ' ') act(activate, idOf(event.target))
    else if (event.key === 'Delete') act(close, idOf(event.target))
    else return
    event.preventDefault()
  })
  list.addEventListener('click', event => {
    act(event.target.matches('.close') ? close : activate, idOf(event.target))
  })
  // Browsers close a tab at a middle click, too.
  list.addEventListener('auxclick', event => {
    if (event.button === 1) act(close, idOf(event.target))
  })

  function act(action, pageId) {
    if (pageId !== undefined && mayDrive()) action(pageId)
  }

  function move(pageId) {
    reachableId = pageId
    draw()
    list.querySelector('[tabindex="0"]')?.focus()
  }

  function draw() {
    const hadFocus = list.contains(document.activeElement)
    if (!tabs.some(({ pageId }) => pageId === reachableId)) reachableId = activeId
    const drives = mayDrive()
    list.replaceChildren(...tabs.map(tab => draft(tab, { activeId, reachableId, drives })))
    if (hadFocus) list.querySelector('[tabindex="0"]')?.focus()
  }

  return {
    /** Both return undefined for an unknown tab. */
    find: wanted => tabs.find(({ pageId }) => pageId === wanted),
    active: () => tabs.find(({ pageId }) => pageId === activeId),
    show(newTabs) {
      tabs = newTabs
      if (!tabs.some(({ pageId }) => pageId === activeId)) activeId = tabs.at(-1)?.pageId
      draw()
    },
    setActive(pageId) {
      if (pageId === activeId) return
      activeId = pageId
      reachableId = pageId
      draw()
    },
    draw,
  }
}

const idOf = target => target.closest('[role="tab"]')?.dataset.pageId

function draft({ pageId, url, title, favicon }, { activeId, reachableId, drives }) {
  const tab = document.createElement('div')
  tab.role = 'tab'
  tab.dataset.pageId = pageId
  tab.tabIndex = pageId === reachableId ? 0 : -1
  tab.ariaSelected = String(pageId === activeId)
  tab.ariaDisabled = String(!drives)
  tab.setAttribute('aria-controls', 'stage')
  const name = document.createElement('span')
  name.className = 'name'
  name.textContent = title || url.replace(/^about:blank$/, '') || 'New tab'
  tab.title = name.textContent
  // Another address would be loaded from its site, and reveal the watcher to it.
  if (/^data:image\//i.test(favicon)) {
    const icon = new Image()
    icon.alt = ''
    icon.src = favicon
    tab.append(icon)
  }
  tab.append(name)
  if (drives) {
    const close = document.createElement('span')
    close.className = 'close'
    close.ariaHidden = 'true'
    close.textContent = '×'
    tab.ariaDescription = 'Delete closes it'
    tab.append(close)
  }
  return tab
}
