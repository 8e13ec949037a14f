/** Shows a browser session to people live, and lets them drive it. Messages: docs/browser-live.md. */
import { keepConnected } from './live-connection.js'
import { listenToKeyboard } from './live-keyboard.js'
import { listenToMouse } from './live-mouse.js'
import { createPicker } from './live-picker.js'
import { createTabs } from './live-tabs.js'
import { createQuestions, createTakeoverBar } from './live-takeover.js'

const element = id => document.getElementById(id)
const { body } = document
const isInvited = document.documentElement.dataset.right === 'takeover'
const [picture, keys, address] = ['picture', 'keys', 'address'].map(element)

/** True if input would be used. */
let drives = false
let hasEnded = false
/** True while a person changes the address. */
let isWriting = false
/** The last status from the service. */
let told

const mayDrive = () => drives
const send = message => sendNow(message)
const sendInput = message => {
  if (drives) sendNow(message)
}
const announce = text => {
  element('announcement').textContent = text
}

const tabs = createTabs(element('tabs'), {
  mayDrive,
  activate: pageId => sendInput({ type: 'activateTab', pageId }),
  close: pageId => sendInput({ type: 'closeTab', pageId }),
})
const takeoverBar = createTakeoverBar({ send, announce })
const questions = createQuestions({
  send,
  hostOf: pageId => URL.parse(tabs.find(pageId)?.url)?.host || 'The page',
})
const picker = createPicker({ send: sendInput, picture, leave: () => drives && focusPage() })
const takeSelection = listenToKeyboard(keys, { send: sendInput, leave: () => address.focus(), say: announce })
listenToMouse(picture, {
  send: sendInput,
  mayDrive,
  isDragging: () => element('drag').ariaPressed === 'true',
  onPress: focusPage,
})
listenToControls()

const takers = {
  tabList: ({ tabs: all }) => tabs.show(all),
  activeTabChange: ({ pageId }) => tabs.setActive(pageId),
  selectedTextResponse: ({ text }) => takeSelection(text),
  picker: message => picker.show(message),
  pickerClosed: () => picker.close(),
  dialog: question => questions.ask(question),
  dialogClosed: ({ pageId }) => questions.remove(pageId),
  status: showStatus,
}

const sendNow = keepConnected(channelAddress(), {
  onMessage(message) {
    const { type, data, pageId } = message
    if (type !== undefined) takers[type]?.(message)
    else {
      tabs.setActive(pageId)
      void showPicture(data)
    }
    showAddress(type === undefined ? message : tabs.active())
  },
  onLost() {
    // The controls and the keyboard stay, because the connection is usually back at once.
    drives = false
    questions.clear()
    picker.close()
    show('reconnecting', 'Reconnecting…')
  },
  onEnd: showEnd,
})

function channelAddress() {
  const page = new URL(location)
  const sessionId = decodeURIComponent(page.pathname.split('/').at(-1))
  const channel = new URL('../v1/sessions/cast', page)
  channel.protocol = page.protocol.replace('http', 'ws')
  const parameters = { sessionId, token: page.searchParams.get('token'), client: clientId() }
  channel.search = new URLSearchParams(parameters)
  return channel
}

/** Distinguishes persons with the same link; equal if it is reopened, so a driver keeps the wheel. */
function clientId() {
  const made = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16)).join('')
  try {
    localStorage.client ??= made
    return localStorage.client
  } catch {
    // In a frame of another site there might be no storage.
    return made
  }
}

let newest
let isDrawing = false

/** Draws the newest picture; pictures that arrive while one is decoded are skipped. */
async function showPicture(data) {
  newest = data
  if (isDrawing) return
  isDrawing = true
  while (newest !== undefined) {
    const image = new Image()
    image.src = `data:image/jpeg;base64,${newest}`
    newest = undefined
    const isReadable = await image.decode().then(
      () => true,
      () => false,
    )
    if (isReadable) draw(image)
  }
  isDrawing = false
}

function draw(image) {
  const { naturalWidth: width, naturalHeight: height } = image
  // Setting a size clears the picture.
  if (picture.width !== width || picture.height !== height) {
    Object.assign(picture, { width, height })
    element('screen').style.setProperty('--ratio', String(width / height))
  }
  picture.getContext('2d').drawImage(image, 0, 0)
}

/** Keeps the text that a person is writing there. */
function showAddress({ url, title } = {}) {
  if (url === undefined) return
  const name = title || url
  picture.ariaLabel = `Picture of ${name}`
  document.title = `${name} – Live browser`
  const shown = url.replace(/^about:blank$/, '')
  if (!isWriting && address.value !== shown) address.value = shown
}

function showStatus(status) {
  const { may_drive, takeover } = status
  told = status
  if (isOver()) return
  const isFree = takeover === null || takeover.is_driver || takeover.driver === null
  setDriving(may_drive && isFree)
  takeoverBar.show(takeover)
  const isHiddenHere = Boolean(takeover?.hidden && !takeover.is_driver)
  body.toggleAttribute('data-hidden', isHiddenHere)
  if (isHiddenHere)
    showNotice(
      'The picture is hidden',
      'Who drives is entering something that is not for others. It comes back afterwards.',
    )
  else element('notice').hidden = true
  show(...describe(status))
}

const isOver = () => ['closed', 'error'].includes(told?.status)

/** Returns the state for the style, and for people. */
function describe({ status, may_drive, takeover }) {
  if (takeover === null)
    return status === 'paused' ? ['waiting', 'Paused'] : ['live', 'Live: the agent drives']
  if (takeover.is_driver) return ['driving', 'You drive']
  if (takeover.driver !== null) return ['waiting', `${takeover.driver} drives`]
  return may_drive
    ? ['driving', 'You may drive: click into the picture']
    : ['waiting', 'Waiting for a person to drive']
}

function setDriving(now) {
  drives = now
  body.toggleAttribute('data-drives', now)
  address.readOnly = !now
  keys.hidden = !now
  tabs.draw()
}

function show(state, text) {
  if (hasEnded) return
  body.dataset.state = state
  // A screen reader would repeat an equal text.
  if (element('status').textContent !== text) element('status').textContent = text
}

function showNotice(title, text) {
  element('notice-title').textContent = title
  element('notice-text').textContent = text
  element('notice').hidden = false
}

function showEnd(code) {
  setDriving(false)
  questions.clear()
  picker.close()
  takeoverBar.show(null)
  const [title, text] = describeEnd(code)
  show('ended', title)
  showNotice(title, text)
  hasEnded = true
}

function describeEnd(code) {
  const close = 'You can close this page.'
  if (code !== 4403 || isOver()) {
    const crashed = told?.status === 'error' ? 'The browser has crashed, or lost its connection. ' : ''
    return ['The session has ended', `${crashed}Nothing more happens here. ${close}`]
  }
  if (isInvited) return ['The agent drives again', `It goes on with the pages as they were left. ${close}`]
  return [
    'This link is no longer valid',
    'Links for watching last an hour. Ask for a new one where you got this one.',
  ]
}

/** @param event a press, where input methods then open their windows; optional */
function focusPage(event) {
  const box = element('screen').getBoundingClientRect()
  if (event) {
    keys.style.left = `${event.clientX - box.left}px`
    keys.style.top = `${event.clientY - box.top}px`
  }
  keys.focus({ preventScroll: true })
}

function listenToControls() {
  for (const button of document.querySelectorAll('[data-action]'))
    button.addEventListener('click', () => sendInput({ type: 'navigation', action: button.dataset.action }))
  for (const type of ['input', 'blur'])
    address.addEventListener(type, () => {
      isWriting = type === 'input'
    })
  element('navigation').addEventListener('submit', event => {
    event.preventDefault()
    isWriting = false
    if (address.value.trim() === '') return
    sendInput({ type: 'navigation', action: 'goto', url: address.value })
    focusPage()
  })
  element('new-tab').addEventListener('click', () => {
    sendInput({ type: 'newTab' })
    address.focus()
  })
  element('screen').addEventListener('focus', () => {
    if (drives) focusPage()
  })
  element('drag').addEventListener('click', ({ currentTarget }) => {
    currentTarget.ariaPressed = String(currentTarget.ariaPressed !== 'true')
  })
  element('keyboard').addEventListener('click', () => {
    // Phones show their keyboard only when a field gets the focus.
    keys.blur()
    keys.inputMode = 'text'
    focusPage()
  })
}
