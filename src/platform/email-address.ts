/**
 * The only definition of an e-mail address. It accepts all that the identity gateway can name: a domain
 * without a dot, or letters of any script.
 */
export const emailAddress = /^[^\s@]+@[^\s@]+$/

/** A sender of mail, alone or as `Name <address>`. */
export const mailbox = /^[^\p{Cc}@]+@[^\p{Cc}@]+$/u

/**
 * Returns the address in the letter case of all its spellings. A capital whose small letter belongs to
 * another one stays: the Kelvin sign is no K, and its user must not become the owner of another address.
 */
export function inOneCase(address: string): string {
  return address.replaceAll(/\p{Lu}/gu, capital => {
    const small = capital.toLowerCase()
    return small.toUpperCase() === capital ? small : capital
  })
}

/** Whether a list of addresses and @domains, in one case, names the address. */
export function isNamed(entries: readonly string[], email: string): boolean {
  return entries.some(entry => (entry.startsWith('@') ? email.endsWith(entry) : email === entry))
}
