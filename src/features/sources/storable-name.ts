/** Without control characters and halves of characters, which a database need not take. */
export function storableName(name: string): string {
  return name
    .replace(/\p{Cc}/gu, '')
    .toWellFormed()
    .trim()
}
