/** Runs inside QuickJS after `url.js`: requests, which the host sends through the outbound guard. */
const { URLSearchParams } = globalThis
let askLater

export function install(core) {
  askLater = core.askLater
  core.define('fetch', fetch)
  core.define('Headers', Headers)
}

async function fetch(address, options) {
  const { method = 'GET', headers, body } = options ?? {}
  const sent = new Headers(headers)
  const text = bodyOf(body, sent)
  return new Response(await askLater('fetch', String(address), String(method), [...sent], text))
}

/** Returns a body: every value has some `toString`, but its result would seldom be the intended body. */
function bodyOf(body, headers) {
  if (body === undefined || body === null) return null
  if (typeof body === 'string') return body
  if (!(body instanceof URLSearchParams)) {
    throw new TypeError('The body of a request must be a string: use JSON.stringify for an object.')
  }
  if (!headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded')
  return body.toString()
}

class Response {
  #text
  #json

  constructor({ status, url, headers, text, json = text }) {
    this.status = status
    this.ok = status >= 200 && status <= 299
    this.url = url
    this.headers = new Headers(headers)
    this.#text = text
    this.#json = json
  }

  async text() {
    return this.#text
  }

  async json() {
    return JSON.parse(this.#json)
  }
}

class Headers {
  #values = new Map()

  constructor(initial) {
    const given = initial ?? []
    const pairs = typeof given[Symbol.iterator] === 'function' ? given : Object.entries(given)
    for (const [name, value] of pairs) this.append(name, value)
  }

  append(name, value) {
    const former = this.get(name)
    this.set(name, former === null ? value : `${former}, ${value}`)
  }

  set(name, value) {
    this.#values.set(String(name).toLowerCase(), String(value))
  }

  get(name) {
    return this.#values.get(String(name).toLowerCase()) ?? null
  }

  has(name) {
    return this.#values.has(String(name).toLowerCase())
  }

  delete(name) {
    this.#values.delete(String(name).toLowerCase())
  }

  forEach(callback) {
    for (const [name, value] of this) callback(value, name, this)
  }

  entries() {
    return this.#values.entries()
  }

  keys() {
    return this.#values.keys()
  }

  values() {
    return this.#values.values()
  }

  [Symbol.iterator]() {
    return this.entries()
  }
}
