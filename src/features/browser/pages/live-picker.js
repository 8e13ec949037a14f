const element = id => document.getElementById(id)
/** Bytes of a file in one message; a multiple of three for Base64. */
const partBytes = 45_000
const maxRows = 12

const words = {
  list: ['Choose one', 'Choose'],
  date: ['Choose a date', 'Use this date'],
  time: ['Choose a time', 'Use this time'],
  'datetime-local': ['Choose a date and a time', 'Use these'],
  month: ['Choose a month', 'Use this month'],
  week: ['Choose a week', 'Use this week'],
  color: ['Choose a colour', 'Use this colour'],
  file: ['asks for a file', 'Upload'],
}

/** Draws the choices of a field that are in no picture, because browsers show them in their own windows. */
export function createPicker({ send, picture, leave }) {
  const panel = element('picker')
  let shown
  let field

  function close() {
    if (panel.hidden) return
    panel.hidden = true
    shown = undefined
    element('picker-field').replaceChildren()
    leave()
  }

  function pick(choice) {
    if (shown !== undefined) send({ type: 'pick', picker: shown.picker, ...choice })
    close()
  }

  panel.addEventListener('submit', event => {
    event.preventDefault()
    if (shown.kind === 'list') pick({ option: field.selectedIndex })
    else if (shown.kind === 'file') void upload(field.files, shown, send).then(isSent => isSent && pick({}))
    else pick({ value: field.value })
  })
  panel.addEventListener('keydown', event => {
    if (event.key === 'Escape') pick({})
    else if (event.key === 'Enter' && shown.kind === 'list') pick({ option: field.selectedIndex })
    else return
    event.preventDefault()
  })
  element('picker-cancel').addEventListener('click', () => pick({}))

  return {
    show(message) {
      shown = message
      const { kind, box, label } = message
      field = kind === 'list' ? listOf(message, option => pick({ option })) : inputOf(message)
      const [what, button] = words[kind]
      const title = kind === 'file' ? `${message.host || 'The page'} ${what}` : what
      field.setAttribute('aria-labelledby', 'picker-title')
      element('picker-title').textContent = label ? `${title}: ${label}` : title
      element('picker-use').textContent = button
      element('picker-field').replaceChildren(field)
      say(
        message.omitted > 0
          ? `${message.omitted} more options are left out: type in the page to find them.`
          : '',
      )
      const { x, y, height } = box ?? { x: 0, y: 0, height: 0 }
      panel.style.left = `${(100 * x) / picture.width}%`
      panel.style.top = `${(100 * (y + height)) / picture.height}%`
      panel.hidden = false
      field.focus()
      panel.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    },
    close,
  }
}

function say(text) {
  element('picker-note').textContent = text
  element('picker-note').hidden = text === ''
}

/** Resolves with true if the files were within the limits, and so were sent. */
async function upload(files, { picker, max_bytes, max_files }, send) {
  const bytes = Array.from(files).reduce((sum, { size }) => sum + size, 0)
  if (bytes > max_bytes || files.length > max_files) {
    say(`At most ${max_files} files of ${Math.floor(max_bytes / 2 ** 20)} MB together can be uploaded here.`)
    return false
  }
  say('Uploading…')
  for (const file of files)
    for (let at = 0; at === 0 || at < file.size; at += partBytes) {
      const part = new Uint8Array(await file.slice(at, at + partBytes).arrayBuffer())
      const data = btoa(String.fromCharCode(...part))
      send({ type: 'pickFile', picker, name: file.name, mediaType: file.type, data, isNew: at === 0 })
    }
  return true
}

function listOf({ options }, choose) {
  const list = document.createElement('select')
  list.size = Math.max(2, Math.min(options.length + 1, maxRows))
  const groups = new Map()
  for (const { label, disabled, group, selected } of options) {
    const option = new Option(label, '', selected, selected)
    option.disabled = disabled
    if (group !== '' && !groups.has(group)) {
      const made = document.createElement('optgroup')
      made.label = group
      groups.set(group, made)
      list.append(made)
    }
    const place = groups.get(group) ?? list
    place.append(option)
  }
  list.addEventListener('click', ({ target }) => {
    if (target.localName === 'option' && !target.disabled) choose(target.index)
  })
  return list
}

function inputOf({ kind, value, min, max, step, accept, multiple }) {
  const input = document.createElement('input')
  input.type = kind
  if (kind === 'file') Object.assign(input, { accept, multiple })
  else Object.assign(input, { min, max, step, value })
  return input
}
