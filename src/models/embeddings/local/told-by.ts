const quoted = /(["'`])(?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^"'`]*[\\/]/g
const plain = /(?:file:\/\/)?(?<![\w.@-])(?:\/|[A-Za-z]:\\)(?:[^\s"'`]*[\\/])?/g

/**
 * What a package says is wrong, in a line: of paths of the machine the name of the file alone, since callers read it.
 * @param folder one that its paths may begin with, whatever characters it has.
 */
export function toldBy(error: unknown, folder: string): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.replaceAll(folder, '').replace(quoted, '$1').replace(plain, '')
}
