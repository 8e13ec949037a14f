/**
 * The one definition of an e-mail address. The identity gateway vouches for those of its users, so nothing is
 * refused that it may name: a domain without a dot, or letters of any script.
 */
export const emailAddress = /^[^\s@]+@[^\s@]+$/

/** A sender of mail, alone or as `Name <address>`. */
export const mailbox = /^[^\p{Cc}@]+@[^\p{Cc}@]+$/u

/**
 * The address in the one letter case that all of its spellings share. A capital whose small letter belongs to another one stays
 * as it is: the Kelvin sign is no K, and a user who has it in an address must not become the owner of another address.
 */
export function inOneCase(address: string): string {
  return address.replaceAll(/\p{Lu}/gu, capital => {
    const small = capital.toLowerCase()
    return small.toUpperCase() === capital ? small : capital
  })
}
