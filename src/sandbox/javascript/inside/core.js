/**
 * Runs inside QuickJS before users' code, and holds the only function that calls the host. Users' code can
 * replace every built-in later, so its own start and end depend only on values captured here; hence also
 * loops without iterators and objects without a prototype. Manipulations of all this can only deceive the
 * code itself: the host accepts nothing but text, and trusts none of it.
 */
const { parse, stringify } = JSON
const { Date: DateClass, Error: ErrorClass, Promise: PromiseClass, RangeError: RangeErrorClass } = globalThis
const { String: toText, TypeError: TypeErrorClass } = globalThis
const { apply, defineProperty, getPrototypeOf } = Reflect
const { isArray } = Array
const { keys } = Object
const { isView } = ArrayBuffer
const { indexOf, slice } = String.prototype
const parseInteger = Number.parseInt

/** By number, the handlers of the host's answers. */
const pending = { __proto__: null }
let lastNumber = 0
let host

/** The functions that the other files in this folder use, and that the host calls. */
export function install(givenHost) {
  host = givenHost
  define('console', {
    log: consoleMethod('log'),
    info: consoleMethod('info'),
    warn: consoleMethod('warn'),
    error: consoleMethod('error'),
    debug: consoleMethod('debug'),
  })
  define('setTimeout', setTimeout)
  define('clearTimeout', clearTimeout)
  return { start, wake, describe, ask, askLater, define }
}

function define(name, value) {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
}

/** Runs the code and reports its end to the host. */
async function start(code, argumentJson) {
  let value
  try {
    value = await code(parse(argumentJson))
  } catch (error) {
    return tell('threw', describe(error))
  }
  try {
    host('returned', toJson(value))
  } catch (sentence) {
    tell('threw', toText(sentence))
  }
}

/**
 * Sends a text to the host, or the part that the host would keep. Unlike a list, a text has no `toJSON` that
 * users' code could have defined.
 */
function tell(name, text) {
  host(name, stringify(apply(slice, text, [0, 20_001])))
}

/** Calls the host, which answers at once; throws if it refuses. */
function ask(name, ...values) {
  const answer = parse(host(name, stringify(values)))
  if (answer[0]) return answer[1]
  throw new (answer[2] ? RangeErrorClass : TypeErrorClass)(answer[1])
}

/** Calls the host for slow work; returns a promise of the answer. */
function askLater(name, ...values) {
  return new PromiseClass((resolve, reject) => {
    lastNumber += 1
    ask(name, lastNumber, ...values)
    pending[lastNumber] = answer => (answer[0] ? resolve(answer[1]) : reject(new TypeErrorClass(answer[1])))
  })
}

function wake(number, answerJson) {
  const act = pending[number]
  delete pending[number]
  act?.(parse(answerJson))
}

function setTimeout(callback, delay = 0, ...values) {
  if (typeof callback !== 'function') throw new TypeErrorClass('setTimeout needs a function.')
  const milliseconds = +delay || 0
  lastNumber += 1
  ask('setTimeout', lastNumber, milliseconds < 1e9 ? milliseconds : 1e9)
  pending[lastNumber] = () => {
    try {
      apply(callback, undefined, values)
    } catch (error) {
      tell('error', describe(error))
    }
  }
  return lastNumber
}

function clearTimeout(number) {
  if (typeof number === 'number' && ask('clearTimeout', number)) delete pending[number]
}

function consoleMethod(level) {
  return (...values) => {
    let text = ''
    for (let index = 0; index < values.length; index += 1)
      text += (index > 0 ? ' ' : '') + show(values[index])
    tell(level, text)
  }
}

/** Returns a value as a text for people. */
function show(value) {
  if (typeof value === 'string') return value
  if (typeof value === 'function') return '[function]'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return toText(value)
  if (value instanceof ErrorClass) return describe(value)
  try {
    return stringify(value, tolerant()) ?? 'undefined'
  } catch {
    return '[an object that cannot be shown]'
  }
}

/** Returns a replacer for values that JSON lacks. An object among its own holders contains itself. */
function tolerant() {
  const holders = []
  let depth = 0
  return function (_key, value) {
    while (depth > 0 && holders[depth - 1] !== this) depth -= 1
    if (typeof value === 'function' || typeof value === 'bigint' || value instanceof ErrorClass)
      return show(value)
    if (typeof value !== 'object' || value === null) return value
    for (let index = 0; index < depth; index += 1) if (holders[index] === value) return '[circular]'
    holders[depth] = value
    depth += 1
    return value
  }
}

/** Describes a thrown value, with the line of the code if known. */
function describe(thrown) {
  try {
    if (!(thrown instanceof ErrorClass)) return `The code threw ${show(thrown)}`
    const name = toText(thrown.name)
    const message = toText(thrown.message)
    const text = message === '' ? name : `${name}: ${message}`
    const stack = toText(thrown.stack)
    const at = apply(indexOf, stack, ['code:'])
    return at < 0 ? text : `${text} (line ${parseInteger(apply(slice, stack, [at + 5]))})`
  } catch {
    return 'The code threw something that cannot be read.'
  }
}

/** Returns the JSON of a returned value; throws a sentence with the reason if there is none. */
function toJson(value) {
  let problem
  try {
    const json = stringify(value, function (key, part) {
      const lost = lossOf(part, this[key])
      if (lost === undefined) return part
      problem = `The returned value is no JSON: ${key === '' ? 'it' : `"${key}"`} is ${lost}.`
      throw problem
    })
    return json ?? 'null'
  } catch (error) {
    if (problem !== undefined) throw problem
    const reason = describe(error)
    const isCycle = apply(indexOf, reason, ['circular']) >= 0
    throw isCycle
      ? 'The returned value is no JSON: it contains itself.'
      : `The returned value could not be made JSON: ${reason}`
  }
}

const byType = {
  __proto__: null,
  function: 'a function: call it, or leave it out',
  symbol: 'a symbol: write a text',
  bigint: 'a bigint: write String(value)',
}
const byClass = [
  [PromiseClass, 'a promise: write await before it'],
  [ErrorClass, 'an Error: write String(error), or its message'],
  [Map, 'a Map: write Object.fromEntries(map), or [...map] for other keys than texts'],
  [Set, 'a Set: write [...set]'],
  [RegExp, 'a RegExp: write String(expression)'],
  [ArrayBuffer, 'an ArrayBuffer: write Array.from(new Uint8Array(buffer))'],
]
const boxes = [Number, String, Boolean]
const plainPrototype = Object.prototype

/** Returns the loss of a value in JSON, and an alternative; undefined if JSON keeps the value. */
function lossOf(part, raw) {
  if (typeof part === 'number')
    return part - part === 0 ? undefined : `${toText(part)}, which no number of JSON is: write null or a text`
  if (part === null) return raw instanceof DateClass ? 'an invalid Date: write null or a text' : undefined
  if (typeof part !== 'object') return byType[typeof part]
  for (let index = 0; index < byClass.length; index += 1)
    if (part instanceof byClass[index][0]) return byClass[index][1]
  if (isView(part)) return 'an array of bytes or numbers: write Array.from(array)'
  const prototype = getPrototypeOf(part)
  if (prototype === null || prototype === plainPrototype || isArray(part)) return undefined
  for (let index = 0; index < boxes.length; index += 1) if (part instanceof boxes[index]) return undefined
  return keys(part).length > 0
    ? undefined
    : 'an object without fields of its own: write an object or list of what it holds, such as [...value]'
}
