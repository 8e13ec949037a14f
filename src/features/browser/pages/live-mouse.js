import { modifiersOf } from './live-keyboard.js'

const buttons = ['left', 'middle', 'right']
/** Accidental movement of a finger, in CSS pixels of this page. */
const slop = 8
/** CSS pixels of a line and a page, units in which some browsers count the wheel. */
const wheelUnits = [1, 16, 600]

/** Sends the actions of a mouse, a pen or a finger on the picture, in the pixels of the picture. */
export function listenToMouse(picture, { send, mayDrive, onPress, isDragging }) {
  const sender = createSender(send)

  const locate = ({ clientX, clientY }) => {
    const box = picture.getBoundingClientRect()
    const x = Math.round(((clientX - box.left) / box.width) * picture.width)
    const y = Math.round(((clientY - box.top) / box.height) * picture.height)
    return { x, y }
  }
  const inputOf = event => ({ ...locate(event), modifiers: modifiersOf(event) })

  listenToPointer(picture, { sender, inputOf, mayDrive, onPress })
  listenToFinger(picture, { sender, inputOf, mayDrive, isDragging })
}

/** Sends moves and turns of the wheel once per frame; presses at once, after pending moves. */
function createSender(send) {
  let move
  let wheel
  let frame

  function flush() {
    cancelAnimationFrame(frame)
    frame = undefined
    if (move !== undefined) send({ type: 'mouseEvent', event: 'mouseMoved', ...move })
    if (wheel !== undefined) send({ type: 'mouseEvent', event: 'mouseWheel', button: 'none', ...wheel })
    move = undefined
    wheel = undefined
  }

  return {
    move(input) {
      move = input
      frame ??= requestAnimationFrame(flush)
    },
    wheel({ deltaX, deltaY, ...input }) {
      const before = wheel ?? { deltaX: 0, deltaY: 0 }
      wheel = { ...input, deltaX: before.deltaX + deltaX, deltaY: before.deltaY + deltaY }
      frame ??= requestAnimationFrame(flush)
    },
    press(event, input) {
      flush()
      send({ type: 'mouseEvent', event, ...input })
    },
  }
}

const isFinger = event => event.pointerType === 'touch'

function listenToPointer(picture, { sender, inputOf, mayDrive, onPress }) {
  /** The last press of each button that is down. */
  const held = new Map()

  picture.addEventListener('pointerdown', event => {
    if (!mayDrive()) return
    onPress(event)
    // This suppresses mouse events of a finger; a captured mouse reports beyond the picture.
    if (isFinger(event)) event.preventDefault()
    else picture.setPointerCapture(event.pointerId)
  })
  picture.addEventListener('pointermove', event => {
    if (mayDrive() && !isFinger(event))
      sender.move({ ...inputOf(event), button: [...held.keys()].at(-1) ?? 'none' })
  })
  picture.addEventListener('mousedown', event => {
    const button = buttons[event.button]
    if (!mayDrive() || button === undefined) return
    // Otherwise the picture would get the focus and be dragged with the mouse.
    event.preventDefault()
    const input = { ...inputOf(event), button, clickCount: Math.min(event.detail || 1, 3) }
    held.set(button, input)
    sender.press('mousePressed', input)
  })
  picture.addEventListener('mouseup', event => {
    const button = buttons[event.button]
    const pressed = held.get(button)
    if (pressed === undefined) return
    held.delete(button)
    sender.press('mouseReleased', { ...pressed, ...inputOf(event) })
  })
  addEventListener('blur', () => {
    for (const pressed of held.values()) sender.press('mouseReleased', pressed)
    held.clear()
  })
  picture.addEventListener('contextmenu', event => {
    if (mayDrive()) event.preventDefault()
  })
  const onWheel = event => {
    // With Control, also from a pinch on a pad, the person enlarges this page.
    if (!mayDrive() || event.ctrlKey) return
    event.preventDefault()
    const unit = wheelUnits[event.deltaMode]
    sender.wheel({ ...inputOf(event), deltaX: event.deltaX * unit, deltaY: event.deltaY * unit })
  }
  picture.addEventListener('wheel', onWheel, { passive: false })
}

/** A tap clicks; a move scrolls, or drags if chosen. The browser handles two fingers. */
function listenToFinger(picture, { sender, inputOf, mayDrive, isDragging }) {
  let finger

  picture.addEventListener('pointerdown', event => {
    if (!isFinger(event) || !event.isPrimary || !mayDrive()) return
    const input = inputOf(event)
    finger = { id: event.pointerId, start: event, last: input, hasMoved: false, drags: isDragging() }
    sender.move(input)
    if (finger.drags) sender.press('mousePressed', { ...input, button: 'left' })
  })
  picture.addEventListener('pointermove', event => {
    if (event.pointerId !== finger?.id) return
    const input = inputOf(event)
    const distance = Math.hypot(event.clientX - finger.start.clientX, event.clientY - finger.start.clientY)
    finger.hasMoved ||= distance > slop
    if (!finger.hasMoved) return
    if (finger.drags) sender.move({ ...input, button: 'left' })
    else sender.wheel({ ...input, deltaX: finger.last.x - input.x, deltaY: finger.last.y - input.y })
    finger.last = input
  })
  const end = event => {
    if (event.pointerId !== finger?.id) return
    const { drags, hasMoved, last } = finger
    finger = undefined
    const input = { ...last, button: 'left' }
    const isTap = !drags && !hasMoved && event.type === 'pointerup'
    if (isTap) sender.press('mousePressed', input)
    if (isTap || drags) sender.press('mouseReleased', input)
  }
  picture.addEventListener('pointerup', end)
  picture.addEventListener('pointercancel', end)
}
