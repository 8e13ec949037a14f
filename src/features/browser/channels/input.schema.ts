import { type Static, Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'

/** CSS pixels; a drag can lead out of the window. */
const coordinate = Type.Number({ minimum: -100_000, maximum: 100_000 })
const modifiers = Type.Optional(Type.Integer({ minimum: 0, maximum: 15 }))
const pageId = Type.Optional(Type.String({ maxLength: 100 }))
const url = Type.String({ minLength: 1, maxLength: 8192 })
const text = (maxLength: number) => Type.String({ maxLength })

/** Messages that the driver of a session may send, by `type`. */
const inputs = {
  mouseEvent: Type.Object({
    type: Type.Literal('mouseEvent'),
    pageId,
    event: Type.Enum(['mousePressed', 'mouseReleased', 'mouseMoved', 'mouseWheel']),
    x: coordinate,
    y: coordinate,
    button: Type.Optional(Type.Enum(['none', 'left', 'middle', 'right'])),
    deltaX: Type.Optional(coordinate),
    deltaY: Type.Optional(coordinate),
    modifiers,
    clickCount: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
  }),
  keyEvent: Type.Object({
    type: Type.Literal('keyEvent'),
    pageId,
    event: Type.Enum(['keyDown', 'keyUp', 'char']),
    key: Type.String({ minLength: 1, maxLength: 50 }),
    code: Type.Optional(text(50)),
    modifiers,
    text: Type.Optional(text(50)),
    keyCode: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
  }),
  insertText: Type.Object({ type: Type.Literal('insertText'), pageId, text: text(32_000) }),
  navigation: Type.Object({
    type: Type.Literal('navigation'),
    pageId,
    action: Type.Enum(['goto', 'back', 'forward', 'refresh']),
    url: Type.Optional(url),
  }),
  newTab: Type.Object({ type: Type.Literal('newTab'), url: Type.Optional(url) }),
  activateTab: Type.Object({ type: Type.Literal('activateTab'), pageId: text(100) }),
  closeTab: Type.Object({ type: Type.Literal('closeTab'), pageId }),
  getSelectedText: Type.Object({ type: Type.Literal('getSelectedText'), pageId }),
  dialogAnswer: Type.Object({
    type: Type.Literal('dialogAnswer'),
    pageId,
    accept: Type.Boolean(),
    text: Type.Optional(text(10_000)),
  }),
  pick: Type.Object({
    type: Type.Literal('pick'),
    picker: text(20),
    option: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
    value: Type.Optional(text(100)),
  }),
  pickFile: Type.Object({
    type: Type.Literal('pickFile'),
    picker: text(20),
    name: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^/\\\\\\0]+$' }),
    mediaType: text(200),
    data: Type.String({ maxLength: 60_000, pattern: '^[A-Za-z0-9+/]*={0,2}$' }),
    isNew: Type.Boolean(),
  }),
  hide: Type.Object({ type: Type.Literal('hide'), hidden: Type.Boolean() }),
  extend: Type.Object({ type: Type.Literal('extend'), seconds: Type.Integer({ minimum: 1, maximum: 600 }) }),
  handBack: Type.Object({ type: Type.Literal('handBack'), note: Type.Optional(text(2000)) }),
}

export type InputType = keyof typeof inputs
export type InputOf<Name extends InputType> = Static<(typeof inputs)[Name]>
export type Input = { [Name in InputType]: InputOf<Name> }[InputType]

/** Returns undefined for a message of an unknown type or with invalid values. */
export function readInput(message: Record<string, unknown>): Input | undefined {
  const { type } = message
  if (typeof type !== 'string' || !Object.hasOwn(inputs, type)) return undefined
  const flat = flatten(message)
  return matches(inputs[type as InputType], flat) ? (flat as Input) : undefined
}

/** Clients of steel-browser nest the fields of an event in an object. */
function flatten(message: Record<string, unknown>): Record<string, unknown> {
  const { event } = message
  const isNested = typeof event === 'object' && event !== null && !Array.isArray(event)
  if (!isNested) return withKey(message)
  const { type, ...fields } = event as Record<string, unknown>
  const isAddress = message.type === 'navigation' && fields.url !== undefined && fields.action === undefined
  const nested = { ...message, ...fields, event: type, ...(isAddress && { action: 'goto' }) }
  return withKey(nested)
}

/** A character can arrive without the key that wrote it. */
function withKey(message: Record<string, unknown>): Record<string, unknown> {
  const isBare = message.event === 'char' && message.key === undefined
  return isBare ? { ...message, key: message.text } : message
}
