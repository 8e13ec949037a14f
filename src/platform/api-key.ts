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

/** Returns the CRC-32 in base62. */
function checksumOf(text: string): string {
  let left = crc32(text)
  let written = ''
  while (written.length < checksumDigits) {
    written = `${digits[left % digits.length]}${written}`
    left = Math.floor(left / digits.length)
  }
  return written
}

/** Returns true if a text claims to be a key, so that an invalid one is refused rather than ignored. */
export function isApiKey(text: string): boolean {
  return /^as[ap]_/.test(text)
}

/** Returns the stored form of a key; undefined for a text with a wrong checksum, which was never a key. */
export function apiKeyHash(key: string): string | undefined {
  const end = key.length - checksumDigits
  if (!/^as[ap]_[0-9A-Za-z]{38}$/.test(key) || key.slice(end) !== checksumOf(key.slice(0, end)))
    return undefined
  return hash('sha256', key, 'hex')
}

/** Returns the part of a key by which people recognise it. */
export function apiKeyHint(key: string): string {
  return key.slice(-4)
}

/** Returns the text with all keys masked. */
export function maskApiKeys(text: string): string {
  return text.includes('asa_') || text.includes('asp_')
    ? text.replaceAll(/(as[ap]_)[0-9A-Za-z]{34}([0-9A-Za-z]{4})/g, '$1…$2')
    : text
}
