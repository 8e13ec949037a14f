/** Amounts are exact: decimal texts such as `12.50`, and whole numbers of the smallest unit, never floats. */

const withoutDecimals = 'BIF CLP DJF GNF ISK JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF'
const withThree = 'BHD JOD KWD OMR TND'
/** Currencies without decimals that the provider counts in hundredths. */
const countedInHundredths = ['ISK', 'UGX']

const digits = new Map([
  ...withoutDecimals.split(' ').map(currency => [currency, 0] as const),
  ...withThree.split(' ').map(currency => [currency, 3] as const),
])

/** Returns the number of decimals that people write of a currency. */
export function decimalsOf(currency: string): number {
  return digits.get(currency.toUpperCase()) ?? 2
}

/** Returns the number of decimals of the provider's unit of a currency. */
export function providerDecimals(currency: string): number {
  return countedInHundredths.includes(currency.toUpperCase()) ? 2 : decimalsOf(currency)
}

const decimal = /^(\d{1,40})(?:\.(\d{1,40}))?$/

/** Returns the decimal in units of `10 ** -scale`; undefined for no decimal, or one with more decimals. */
export function toUnits(text: string, scale: number): bigint | undefined {
  const [, whole, fraction = ''] = decimal.exec(text) ?? []
  const keptFraction = fraction.replace(/0+$/, '')
  if (whole === undefined || keptFraction.length > scale) return undefined
  return BigInt(whole + keptFraction.padEnd(scale, '0'))
}

/** Returns the decimal of units: `fromUnits(1250n, 2)` is `12.50`. */
export function fromUnits(units: bigint | number, scale: number): string {
  const text = BigInt(units)
    .toString()
    .padStart(scale + 1, '0')
  return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`
}

/** Returns the only form of an amount: no needless zeros, but the decimals of the currency. */
export function canonical(amount: string, currency: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const decimals = fraction.replace(/0+$/, '').padEnd(decimalsOf(currency), '0')
  const units = whole.replace(/^0+(?=\d)/, '')
  return decimals === '' ? units : `${units}.${decimals}`
}

/** Returns a text that sorts like the canonical amount. */
export function sortKey(amount: string): string {
  const length = amount.split('.')[0]?.length ?? 0
  return `${String(length).padStart(2, '0')}:${amount}`
}

/** More decimals than any supported asset has. */
const fine = 40

function exact(amount: string): bigint {
  return toUnits(amount, fine) ?? 0n
}

/** Returns a negative number, zero or a positive one if `one` is less than, equal to or more than `other`. */
export function compare(one: string, other: string): number {
  const [left, right] = [exact(one), exact(other)]
  return left < right ? -1 : Number(left > right)
}

export function add(one: string, other: string, currency: string): string {
  return canonical(fromUnits(exact(one) + exact(other), fine), currency)
}

/** Never below zero. */
export function subtract(one: string, other: string, currency: string): string {
  const rest = exact(one) - exact(other)
  return canonical(fromUnits(rest > 0n ? rest : 0n, fine), currency)
}

export function multiply(amount: string, times: number | bigint, currency: string): string {
  return canonical(fromUnits(exact(amount) * BigInt(times), fine), currency)
}
