import { emailAddress } from '#platform/email-address.ts'
import { invalid } from '#platform/errors.ts'
import { networks } from '../selling/networks.ts'
import type { Details, MethodType } from './methods.schema.ts'

interface Rules {
  required: readonly string[]
  optional?: readonly string[]
}

const rules: Record<Exclude<MethodType, 'bank' | 'other'>, Rules> = {
  crypto: { required: ['address', 'network'] },
  card: { required: ['card_id'], optional: ['brand', 'last4'] },
  paypal: { required: ['email'] },
  mobile_money: { required: ['phone'], optional: ['provider'] },
}

const byIban: Rules = { required: ['iban'], optional: ['holder', 'bic'] }
const byAccount: Rules = { required: ['account_number', 'bank_code'], optional: ['holder'] }

/** Fields of which every reader sees only the end. */
const numbers = ['iban', 'account_number']
/** Fields of which viewers see only the end. */
const handles = ['address', 'email', 'phone', 'card_id', ...numbers]

const base58 = '[1-9A-HJ-NP-Za-km-z]'
const evm = /^0x[0-9a-fA-F]{40}$/
const addressForms: Record<string, RegExp> = {
  ...Object.fromEntries(networks.flatMap(({ name, id }) => [name, id].map(network => [network, evm]))),
  bitcoin: new RegExp(`^(?:bc1[02-9ac-hj-np-z]{11,87}|[13]${base58}{25,34})$`),
  solana: new RegExp(`^${base58}{32,44}$`),
  tron: new RegExp(`^T${base58}{33}$`),
}

/** Forms of single fields, and their descriptions. */
const forms: Record<string, [form: RegExp, issue: string]> = {
  card_id: [/^(?!\d+$)[A-Za-z]\w{3,200}$/, 'must be the id of a card at the provider, never its number'],
  last4: [/^\d{4}$/, 'must be four digits'],
  email: [emailAddress, 'must be an e-mail address'],
  phone: [/^\+?[\d ()./-]{6,30}$/, 'must be a phone number'],
  account_number: [/^[\dA-Z -]{4,34}$/i, 'must be the number of an account'],
  bank_code: [/^[\dA-Z -]{3,20}$/i, 'must be the code of a bank'],
}

/** Normalizes details. Throws VALIDATION_ERROR for impossible values. */
export function checkDetails(type: MethodType, texts: Details): Details {
  const details = Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, value.trim()]))
  const card =
    type === 'bank'
      ? undefined
      : Object.entries(details).find(([name, value]) => name !== 'phone' && holdsCardNumber(value))
  if (card !== undefined) throw wrong(card[0], 'holds the number of a card, which is not to be stored')
  if (type === 'other') return details
  const bank = 'iban' in details ? byIban : byAccount
  checkFields(type, details, type === 'bank' ? bank : rules[type])
  const form = addressForms[details.network?.toLowerCase() ?? '']
  if (type === 'crypto' && form?.test(details.address ?? '') === false)
    throw wrong('address', `is no address on the network ${details.network}`)
  if (details.iban === undefined) return details
  const iban = details.iban.replaceAll(/[\s-]/g, '').toUpperCase()
  if (!isIban(iban)) throw wrong('iban', 'must be an IBAN; its check digits are wrong')
  return { ...details, iban }
}

function checkFields(type: MethodType, details: Details, { required, optional = [] }: Rules): void {
  const missing = required.find(name => !details[name])
  if (missing !== undefined) throw wrong(missing, `is needed for the type ${type}`)
  for (const [name, value] of Object.entries(details)) {
    if (![...required, ...optional].includes(name)) throw wrong(name, `is no detail of the type ${type}`)
    const [form, issue = ''] = forms[name] ?? []
    if (form?.test(value) === false) throw wrong(name, issue)
  }
}

function wrong(field: string, issue: string) {
  return invalid(`details.${field}`, issue)
}

/** Checks an IBAN by ISO 13616: rotated by four places, with letters as numbers, it is 1 modulo 97. */
export function isIban(iban: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(iban)) return false
  const digits = (iban.slice(4) + iban.slice(0, 4)).replaceAll(
    /[A-Z]/g,
    letter => `${letter.charCodeAt(0) - 55}`,
  )
  return BigInt(digits) % 97n === 1n
}

/** Finds 13 to 19 digits with a correct check digit (Luhn) that are no part of a word, such as an address. */
function holdsCardNumber(value: string): boolean {
  const found = value.match(/(?<![\da-z])\d(?:[ -]?\d){12,18}(?![\da-z])/gi) ?? []
  return found.some(text => {
    const digits = [...text.replaceAll(/\D/g, '')].reverse().map(Number)
    const sum = digits.reduce(
      (total, digit, at) => total + (at % 2 === 0 ? digit : (digit * 2) % 9 || digit),
      0,
    )
    return sum % 10 === 0
  })
}

/** Returns the details for all readers, with numbers masked. */
export function shownDetails(details: Details): Details {
  return masked(details, numbers)
}

/** Returns the details for callers who may only read. */
export function detailsForViewers(details: Details): Details {
  return masked(details, handles)
}

function masked(details: Details, names: readonly string[]): Details {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name,
      names.includes(name) ? `****${value.slice(-4)}` : value,
    ]),
  )
}
