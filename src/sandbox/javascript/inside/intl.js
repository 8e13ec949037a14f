/**
 * Runs inside QuickJS after `core.js`: locales and time zones, which the host knows. The engine itself has no `Intl`, and its
 * `toLocaleString` and the like would ignore both.
 */
const { apply, defineProperty } = Reflect
const { is } = Object
let ask

const ranges = ['format', 'formatToParts', 'formatRange', 'formatRangeToParts']
const services = {
  DateTimeFormat: ranges,
  NumberFormat: ranges,
  PluralRules: ['select', 'selectRange'],
  RelativeTimeFormat: ['format', 'formatToParts'],
  ListFormat: ['format', 'formatToParts'],
  Collator: ['compare'],
}
const asWritten = { ListFormat: list => Array.from(list, String), Collator: String }

export function install(core) {
  ask = core.ask
  const kinds = {}
  for (const kind of Object.keys(services)) extend(kinds, { [kind]: serviceOf(kind) })
  core.define('Intl', kinds)
  extend(Date.prototype, {
    toLocaleString: dateMethod('toLocaleString'),
    toLocaleDateString: dateMethod('toLocaleDateString'),
    toLocaleTimeString: dateMethod('toLocaleTimeString'),
  })
  for (const { prototype } of [Number, BigInt])
    extend(prototype, {
      toLocaleString(locales, options) {
        return ask('intl', 'NumberFormat', locales, options, 'format', plain(this.valueOf()))
      },
    })
  for (const { prototype } of [Array, Object.getPrototypeOf(Int8Array)])
    extend(prototype, {
      toLocaleString(locales, options) {
        const texts = Array.from(this, entry => entry?.toLocaleString(locales, options) ?? '')
        return texts.join(',')
      },
    })
  extend(String.prototype, {
    localeCompare(other, locales, options) {
      const [one, two] = [String(this), String(other)]
      if (locales === undefined && options === undefined && isSimple(one) && isSimple(two))
        return one < two ? -1 : Number(one > two)
      return ask('intl', 'Collator', locales, options, 'compare', one, two)
    },
    toLocaleUpperCase(locales) {
      return ask('intl', 'String', locales, null, 'toLocaleUpperCase', String(this))
    },
    toLocaleLowerCase(locales) {
      return ask('intl', 'String', locales, null, 'toLocaleLowerCase', String(this))
    },
  })
}

/** Returns true if the default locale sorts the text by its codes, which needs no host. */
function isSimple(text) {
  return /^[0-9a-z]*$/.test(text)
}

function dateMethod(method) {
  return function (locales, options) {
    return ask('intl', 'Date', locales, options, method, plain(apply(Date.prototype.getTime, this, [])))
  }
}

/** Returns a constructor that works without `new`, with methods that work without their object. */
function serviceOf(kind) {
  function Service(given, options) {
    if (new.target === undefined) return new Service(given, options)
    // Later changes of locales and options have no effect.
    const [locales, chosen] = JSON.parse(JSON.stringify([given, options]))
    const call = (method, values) => ask('intl', kind, locales, chosen, method, ...values)
    const methods = { resolvedOptions: () => call('resolvedOptions', []) }
    const convert = asWritten[kind] ?? (kind === 'DateTimeFormat' ? timeOf : plain)
    for (const name of services[kind])
      methods[name] = (...values) => {
        const needed = values.length === 0 ? [undefined] : values
        return call(
          name,
          needed.map(value => convert(value)),
        )
      }
    extend(this, methods)
    methods.resolvedOptions()
  }
  extend(Service, {
    supportedLocalesOf: locales => ask('intl', kind, locales, null, 'supportedLocalesOf'),
  })
  return Service
}

function timeOf(value) {
  return value === undefined ? Date.now() : plain(+value)
}

/** Returns a text for numbers that JSON lacks. */
function plain(value) {
  if (typeof value === 'bigint' || typeof value === 'string') return String(value)
  const number = Number(value)
  return is(number, -0) ? '-0' : number - number === 0 ? number : String(number)
}

function extend(target, values) {
  for (const name of Object.keys(values))
    defineProperty(target, name, {
      value: values[name],
      writable: true,
      configurable: true,
      enumerable: false,
    })
}
