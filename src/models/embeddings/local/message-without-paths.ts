const quoted = /(["'`])(?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^"'`]*[\\/]/g
const plain = /(?:file:\/\/)?(?<![\w.@-])(?:\/|[A-Za-z]:\\)(?:[^\s"'`]*[\\/])?/g

/**
 * The error message of a package on one line, with local paths reduced to file names, since callers read it.
 * @param folder a folder that its paths may begin with, with any characters.
 */
export function messageWithoutPaths(error: unknown, folder: string): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.replaceAll(folder, '').replace(quoted, '$1').replace(plain, '')
}
