/** API keys as texts: `asa_` (of an agent) or `asp_` (of a person), 32 random base62 digits, and a checksum. */
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomDigits = 32
const checksumDigits = 6

export function newApiKey(kind: 'agent' | 'personal'): string {
  const random = Array.from({ length: randomDigits }, () => digits[randomInt(digits.length)]).join('')
  const key = `${kind === 'agent' ? 'asa_' : 'asp_'}${random}`
  return key + checksumOf(key)
}

/** The CRC-32 in base62. */
function checksumOf(text: string): string {
  let left = crc32(text)
  let written = ''
  while (written.length < checksumDigits) {
    written = `${digits[left % digits.length]}${written}`
    left = Math.floor(left / digits.length)
  }
  return written
}

/** Whether a text claims to be a key, so that it is refused rather than ignored if it is none. */
export function isApiKey(text: string): boolean {
  return /^as[ap]_/.test(text)
}

/** The form in which a key is stored; undefined for a text whose checksum is wrong, which was never a key. */
export function apiKeyHash(key: string): string | undefined {
  const end = key.length - checksumDigits
  if (!/^as[ap]_[0-9A-Za-z]{38}$/.test(key) || key.slice(end) !== checksumOf(key.slice(0, end)))
    return undefined
  return hash('sha256', key, 'hex')
}

/** The part of a key by which people recognise it. */
export function apiKeyHint(key: string): string {
  return key.slice(-4)
}

/** The text without the keys in it, wherever they stand. */
export function maskApiKeys(text: string): string {
  return text.includes('asa_') || text.includes('asp_')
    ? text.replaceAll(/(as[ap]_)[0-9A-Za-z]{34}([0-9A-Za-z]{4})/g, '$1…$2')
    : text
}
