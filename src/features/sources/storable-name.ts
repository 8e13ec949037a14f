/** Returns the name without control characters and half characters, which a database can refuse. */
export function storableName(name: string): string {
  return name
    .replace(/\p{Cc}/gu, '')
    .toWellFormed()
    .trim()
}
