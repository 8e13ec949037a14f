/* Shows the recording of a session. Nothing of the recorded page runs: a frame without scripts draws it. */

const get = id => document.getElementById(id)
const [stage, position, time, play] = ['stage', 'position', 'time', 'play'].map(get)
const kinds = { meta: 4, snapshot: 2, change: 3, custom: 5 }
/** Elements that only load something, or that configure loading; styles are within the recording. */
const withoutUse = new Set(['link', 'meta', 'base', 'script', 'object', 'embed', 'applet', 'portal'])

main().catch(error => {
  get('status').textContent = error.message
})

async function main() {
  const answer = await fetch(`${location.pathname.replace(/\/$/, '')}/events${location.search}`)
  if (!answer.ok) throw new Error(await answer.text())
  const { events } = await answer.json()
  if (!events.some(event => event.type === kinds.snapshot)) throw new Error('This recording is empty.')
  // Marks come from the service, and can be stored before older events of the page.
  events.sort((one, other) => one.timestamp - other.timestamp)
  for (const event of events) disarm(event)
  get('status').textContent = ''
  show(events)
}

/** Replaces elements that load something by meaningless ones. */
function disarm({ type, data }) {
  if (type === kinds.snapshot) disarmNode(data.node)
  if (type === kinds.change) for (const { node } of data.adds ?? []) if (node) disarmNode(node)
}

function disarmNode(node) {
  const isStyle = node.tagName === 'link' && node.attributes?._cssText
  if (withoutUse.has(node.tagName) && !isStyle) node.tagName = `recorded-${node.tagName}`
  for (const child of node.childNodes ?? []) disarmNode(child)
}

/** Elements that are visible without any text. */
const pictures = new Set(['img', 'svg', 'canvas', 'video', 'input', 'textarea', 'select', 'button', 'iframe'])
/** Elements whose text is not shown. */
const unseen = new Set(['head', 'style', 'script', 'noscript', 'template'])

function showsSomething(node) {
  if (unseen.has(node.tagName)) return false
  const isText = node.type === 3 && node.textContent.trim() !== ''
  return isText || pictures.has(node.tagName) || (node.childNodes ?? []).some(showsSomething)
}

/** Returns the time of the first visible content; 0 if there is none. */
function firstSight(events, startTime) {
  const first = events.find(({ type, data }) => {
    if (type === kinds.snapshot) return showsSomething(data.node)
    return type === kinds.change && (data.adds ?? []).some(({ node }) => node && showsSomething(node))
  })
  return first ? first.timestamp - startTime : 0
}

function show(events) {
  const marks = events.filter(({ type }) => type === kinds.custom)
  const pages = events.filter(({ type }) => type === kinds.meta)
  const replayer = new rrweb.Replayer(events, {
    root: stage,
    skipInactive: true,
    inactivePeriodThreshold: 3000,
    showWarning: false,
    mouseTail: { strokeStyle: '#2563eb' },
  })
  // Keys and pointers must not reach the recorded page, nor have effects.
  replayer.wrapper.inert = true
  replayer.on('fullsnapshot-rebuilded', () => {
    for (const name of ['click', 'submit'])
      replayer.iframe.contentDocument.addEventListener(name, event => event.preventDefault(), true)
  })
  const whole = replayer.getMetaData()
  /** Milliseconds without visible content, which are skipped. */
  const skipped = firstSight(events, whole.startTime)
  const startTime = whole.startTime + skipped
  const totalTime = whole.totalTime - skipped
  let isPlaying = false

  function tell(at) {
    position.value = at
    time.textContent = `${clock(at)} / ${clock(totalTime)}`
    position.setAttribute('aria-valuetext', `${clock(at)} of ${clock(totalTime)}`)
    get('address').textContent = pages.findLast(page => page.timestamp <= startTime + at)?.data.href ?? ''
  }

  function setPlaying(value) {
    isPlaying = value
    play.textContent = value ? 'Pause' : 'Play'
  }

  function seek(at) {
    if (isPlaying) replayer.play(skipped + at)
    // Events of this exact moment are shown, too.
    else replayer.pause(skipped + at + 1)
    tell(at)
  }

  function follow() {
    if (!isPlaying) return
    tell(Math.min(replayer.getCurrentTime() - skipped, totalTime))
    requestAnimationFrame(follow)
  }

  play.onclick = () => {
    if (isPlaying) {
      replayer.pause()
      setPlaying(false)
      return
    }
    const at = Number(position.value)
    replayer.play(skipped + (at >= totalTime ? 0 : at))
    setPlaying(true)
    follow()
  }
  position.max = totalTime
  position.oninput = () => seek(Number(position.value))
  get('speed').onchange = event => replayer.setConfig({ speed: Number(event.target.value) })
  get('skip').onchange = event => replayer.setConfig({ skipInactive: event.target.checked })
  replayer.on('finish', () => {
    setPlaying(false)
    tell(totalTime)
  })
  replayer.on('resize', draw)
  addEventListener('resize', () => draw())
  listMarks(marks, { startTime, totalTime, seek })
  get('controls').hidden = false
  seek(0)
}

let size = { width: 1280, height: 720 }

/** Draws the page as large as there is room for it. */
function draw(recorded = size) {
  size = recorded
  const scale = Math.min(1, stage.clientWidth / size.width)
  stage.querySelector('.replayer-wrapper').style.transform = `scale(${scale})`
  stage.style.height = `${Math.round(size.height * scale)}px`
}

function listMarks(marks, { startTime, totalTime, seek }) {
  for (const { timestamp, data } of marks) {
    const at = Math.max(0, timestamp - startTime)
    const tick = document.createElement('span')
    tick.className = data.tag
    tick.style.left = `${(100 * at) / Math.max(1, totalTime)}%`
    tick.title = wordsFor(data)
    get('ticks').append(tick)
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = `${clock(at)}  ${wordsFor(data)}`
    button.onclick = () => seek(at)
    const item = document.createElement('li')
    item.append(button)
    get('marks').append(item)
  }
  get('happened').hidden = marks.length === 0
}

function wordsFor({ tag, payload }) {
  if (tag === 'action')
    return ['The agent:', payload.action, payload.url ?? payload.selector].filter(Boolean).join(' ')
  if (tag === 'too_large') return 'This page is too large to be recorded.'
  if (tag === 'recording_stopped') return `The recording stops here. ${payload.reason}`
  if (tag !== 'takeover') return tag
  if (payload.state === 'began') return `A person is asked to take over: ${payload.reason}`
  const outcome = String(payload.outcome).replaceAll('_', ' ')
  return `The takeover has ended: ${payload.note ?? outcome}`
}

function clock(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
