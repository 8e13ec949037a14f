const quoted = /(["'`])(?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^"'`]*[\\/]/g
const plain = /(?:file:\/\/)?(?<![\w.@-])(?:\/|[A-Za-z]:\\)(?:[^\s"'`]*[\\/])?/g

/**
 * Returns a package's error message on one line, with local paths reduced to file names for callers.
 * @param folder a folder that its paths can begin with, with any characters.
 */
export function messageWithoutPaths(error: unknown, folder: string): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.replaceAll(folder, '').replace(quoted, '$1').replace(plain, '')
}
