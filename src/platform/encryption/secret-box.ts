import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { AppError } from '../errors.ts'

/**
 * Keeps secrets in storage: AES-256-GCM with a random 96-bit nonce (NIST SP 800-38D).
 *
 * `context` is the place of a secret, such as the agent's id and the credential's name. It is authenticated
 * but not stored, so that a secret sealed for one place does not open in another.
 */
export interface SecretBox {
  /** Distinguishes keys without revealing anything about them; each sealed text carries it. */
  keyId: string
  /** Returns a text of the form `v1:<key id>:<base64url of nonce, tag and ciphertext>`. */
  seal(secret: string, context: readonly string[]): string
  /** @throws AppError `INTERNAL_ERROR` for another key, another context, or an altered text. */
  open(sealed: string, context: readonly string[]): string
  /** Returns true if `sealed` was made with this key. */
  owns(sealed: string): boolean
  /** Returns a secret of 256 bits in base64url, derived from the key: the same key gives the same secret. */
  derive(purpose: readonly string[]): string
}

export const keyLength = 32

const version = 'v1'
const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/** Creates a box. `key` is 32 random bytes. */
export function createSecretBox(key: Uint8Array): SecretBox {
  if (key.length !== keyLength) throw new Error(`an encryption key has ${keyLength} bytes, not ${key.length}`)
  const keyId = createHash('sha256').update('key id').update(key).digest('hex').slice(0, 12)
  const prefix = `${version}:${keyId}:`

  return {
    keyId,
    owns: sealed => sealed.startsWith(prefix),
    derive: purpose =>
      Buffer.from(hkdfSync('sha256', key, '', JSON.stringify(['derived', ...purpose]), 32)).toString(
        'base64url',
      ),

    seal(secret, context) {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagLength })
      cipher.setAAD(associatedData(prefix, context))
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return prefix + Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')
    },

    open(sealed, context) {
      if (!sealed.startsWith(prefix)) throw unreadable('it was sealed with another key')
      const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url')
      if (bytes.length < nonceLength + tagLength) throw unreadable('it is cut off')
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceLength), {
        authTagLength: tagLength,
      })
      decipher.setAAD(associatedData(prefix, context))
      decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength))
      const ciphertext = bytes.subarray(nonceLength + tagLength)
      try {
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
      } catch (error) {
        throw unreadable('it was altered, or belongs elsewhere', error)
      }
    },
  }
}

/** Returns the `keyId` of the box that made a sealed text. */
export function keyIdOf(sealed: string): string | undefined {
  return sealed.split(':')[1]
}

/** Joins the parts as JSON, which distinguishes `['a', 'bc']` from `['ab', 'c']`. */
function associatedData(prefix: string, context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([prefix, ...context]), 'utf8')
}

function unreadable(why: string, cause?: unknown): AppError {
  return new AppError('INTERNAL_ERROR', `A stored secret can't be opened: ${why}. Enter it again.`, { cause })
}
