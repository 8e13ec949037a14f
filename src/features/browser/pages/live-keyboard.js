/** Bits of `modifiers`. */
const alt = 1
const control = 2
const meta = 4
const shift = 8

/** Max characters of a message that inserts text; longer texts are sent in several. */
const maxInserted = /.{1,10000}/gsu
/** Keyboards of phones do not report deletions in an empty field. */
const something = '\u200b'
const isMac = /Mac|iP/.test(navigator.platform)

/**
 * Sends text that a person types, composes and pastes while `field` has the focus. `leave` moves the focus
 * away. Returns a function that takes the response to a request for the selected text.
 */
export function listenToKeyboard(field, { send, leave, say }) {
  /** Keys that are down, by code. */
  const held = new Map()
  /** The key that cuts, until the text to be cut is known. */
  let cutting
  let isComposing = false

  const press = key => {
    send({ type: 'keyEvent', event: 'keyDown', ...key })
    send({ type: 'keyEvent', event: 'keyUp', ...key, text: undefined })
  }
  const insert = text => {
    for (const piece of text.match(maxInserted) ?? []) send({ type: 'insertText', text: piece })
  }
  const reset = () => {
    field.value = something
    field.setSelectionRange(1, 1)
  }

  field.addEventListener('keydown', event => {
    if (event.key === 'F6') {
      event.preventDefault()
      leave()
      return
    }
    if (isOfInputMethod(event) || isPaste(event)) return
    event.preventDefault()
    const action = navigationOf(event)
    if (action !== undefined) {
      send({ type: 'navigation', action })
      return
    }
    const key = keyOf(event)
    const isCut = isShortcut(event, 'x')
    if (isCut || isShortcut(event, 'c')) send({ type: 'getSelectedText' })
    if (isCut) cutting = key
    // A Mac does not report the release of other keys while Command is down.
    else if (isMac && event.metaKey) press(key)
    else {
      held.set(event.code, key)
      send({ type: 'keyEvent', event: 'keyDown', ...key })
    }
  })
  field.addEventListener('keyup', event => {
    if (!held.delete(event.code)) return
    send({ type: 'keyEvent', event: 'keyUp', ...keyOf(event), text: undefined })
  })
  field.addEventListener('blur', () => {
    for (const key of held.values()) send({ type: 'keyEvent', event: 'keyUp', ...key, text: undefined })
    held.clear()
    field.inputMode = 'none'
  })

  field.addEventListener('compositionstart', () => {
    isComposing = true
  })
  field.addEventListener('compositionend', event => {
    isComposing = false
    insert(event.data)
    reset()
  })
  // Keyboards of phones, dictation and pickers of symbols write without keys.
  field.addEventListener('input', event => {
    if (isComposing || event.inputType === 'insertCompositionText') return
    if (event.inputType === 'deleteContentBackward') press({ key: 'Backspace', code: 'Backspace' })
    else if (/^insert(LineBreak|Paragraph)$/.test(event.inputType)) press({ key: 'Enter', code: 'Enter' })
    else insert(event.data ?? '')
    reset()
  })
  field.addEventListener('paste', event => {
    event.preventDefault()
    insert(event.clipboardData.getData('text/plain'))
  })
  field.addEventListener('focus', reset)

  return text => {
    if (cutting !== undefined) press(cutting)
    cutting = undefined
    if (text !== '') void copy(text).then(say)
  }
}

/** Copies a text, and resolves with the result in words. Browsers permit this only to encrypted pages. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return 'Copied.'
  } catch {
    return 'Your browser does not let this page copy.'
  }
}

/** Returns true for keys of input methods, which report the written text by other events. */
function isOfInputMethod(event) {
  return event.isComposing || event.keyCode === 229 || ['Dead', 'Process', 'Unidentified'].includes(event.key)
}

function isPaste(event) {
  return isShortcut(event, 'v') || (event.key === 'Insert' && event.shiftKey)
}

function isShortcut(event, letter) {
  return (isMac ? event.metaKey : event.ctrlKey) && !event.altKey && event.key.toLowerCase() === letter
}

/** Returns the navigation of keys that browsers, not pages, handle. */
function navigationOf(event) {
  if (event.key === 'F5' || isShortcut(event, 'r')) return 'refresh'
  if (!event.altKey || isMac) return undefined
  return { ArrowLeft: 'back', ArrowRight: 'forward' }[event.key]
}

/** Returns the sent parts of a key; `text` only if the key writes. */
function keyOf(event) {
  const { key, code } = event
  const modifiers = modifiersOf(event)
  const writes = [...key].length === 1 && (modifiers & (control | meta)) === 0
  return { key, code, modifiers, text: writes ? key : undefined }
}

export function modifiersOf(event) {
  const hasShift = event.shiftKey ? shift : 0
  // Keys for a third character on a key are no shortcuts.
  const isThirdLevel = isMac && event.altKey && [...(event.key ?? '')].length === 1
  if (isThirdLevel || event.getModifierState('AltGraph')) return hasShift
  const hasControl = event.ctrlKey || (isMac && event.metaKey)
  const hasMeta = !isMac && event.metaKey
  return (event.altKey ? alt : 0) | (hasControl ? control : 0) | (hasMeta ? meta : 0) | hasShift
}
