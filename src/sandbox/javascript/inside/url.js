/** Runs inside QuickJS after `core.js`: addresses, which the host reads and writes. */
const parts = 'href origin protocol username password host hostname port pathname search hash'.split(' ')
let ask

export function install(core) {
  ask = core.ask
  for (const part of parts) defineUrlPart(part)
  core.define('URL', Url)
  core.define('URLSearchParams', URLSearchParams)
}

class Url {
  #parts
  #parameters

  constructor(address, base) {
    this.#parts = ask('parseUrl', String(address), base === undefined ? null : String(base))
  }

  static canParse(address, base) {
    try {
      return new Url(address, base) !== undefined
    } catch {
      return false
    }
  }

  get searchParams() {
    this.#parameters ??= new URLSearchParams(this.#parts.search, query => {
      this.#parts = ask('changeUrl', this.#parts.href, 'search', query)
    })
    return this.#parameters
  }

  toString() {
    return this.#parts.href
  }

  toJSON() {
    return this.#parts.href
  }

  static read(url, part) {
    return url.#parts[part]
  }

  static write(url, part, text) {
    url.#parts = ask('changeUrl', url.#parts.href, part, String(text))
    url.#parameters = undefined
  }
}

const { read, write } = Url
delete Url.read
delete Url.write

function defineUrlPart(part) {
  Object.defineProperty(Url.prototype, part, {
    get() {
      return read(this, part)
    },
    set(text) {
      write(this, part, text)
    },
    enumerable: true,
    configurable: true,
  })
}

class URLSearchParams {
  #pairs
  #tell

  /** `tell` is called on changes, because an address and its parameters have to stay in sync. */
  constructor(initial = '', tell = () => undefined) {
    this.#tell = tell
    if (typeof initial === 'object' && initial !== null) {
      const pairs = typeof initial[Symbol.iterator] === 'function' ? [...initial] : Object.entries(initial)
      this.#pairs = pairs.map(([name, value]) => [String(name), String(value)])
    } else this.#pairs = ask('parseQuery', String(initial))
  }

  #change(pairs) {
    this.#pairs = pairs
    this.#tell(this.toString())
  }

  get size() {
    return this.#pairs.length
  }

  get(name) {
    return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null
  }

  getAll(name) {
    return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value)
  }

  has(name) {
    return this.#pairs.some(([key]) => key === String(name))
  }

  append(name, value) {
    this.#change([...this.#pairs, [String(name), String(value)]])
  }

  delete(name) {
    this.#change(this.#pairs.filter(([key]) => key !== String(name)))
  }

  set(name, value) {
    const at = this.#pairs.findIndex(([key]) => key === String(name))
    if (at < 0) return this.append(name, value)
    const changed = this.#pairs.with(at, [String(name), String(value)])
    this.#change(changed.filter(([key], index) => index <= at || key !== String(name)))
  }

  sort() {
    this.#change(this.#pairs.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)))
  }

  forEach(callback) {
    for (const [name, value] of this) callback(value, name, this)
  }

  *entries() {
    for (const [name, value] of this.#pairs) yield [name, value]
  }

  *keys() {
    for (const [name] of this.#pairs) yield name
  }

  *values() {
    for (const [, value] of this.#pairs) yield value
  }

  [Symbol.iterator]() {
    return this.entries()
  }

  toString() {
    return ask('formatQuery', this.#pairs)
  }
}
