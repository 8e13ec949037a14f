interface Line {
  sign: '+' | '-' | ' '
  text: string
}

/** Max pairs of lines to compare; beyond it, everything between the equal ends counts as replaced. */
const maxPairs = 4_000_000

/** Returns the shortest edit from one text to another by lines: their longest common subsequence. */
export function differences(before: string, after: string): (Line & { at: number })[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const start = old.findIndex((line, at) => line !== now[at])
  const head = start < 0 ? Math.min(old.length, now.length) : start
  let tail = 0
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  const same = (lines: readonly string[]): Line[] => lines.map(text => ({ sign: ' ', text }))
  const lines = [
    ...same(old.slice(0, head)),
    ...between(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...same(old.slice(old.length - tail)),
  ]
  return lines.map((line, at) => ({ ...line, at }))
}

function between(old: readonly string[], now: readonly string[]): Line[] {
  const isTooLong = old.length * now.length > maxPairs
  const lengths = isTooLong ? [] : commonLengths(old, now)
  const lines: Line[] = []
  let [at, to] = [0, 0]
  while (at < old.length || to < now.length) {
    const [gone, come] = [old[at], now[to]]
    const skipsOld = (lengths[at + 1]?.[to] ?? 0) >= (lengths[at]?.[to + 1] ?? 0)
    if (!isTooLong && gone !== undefined && gone === come) {
      lines.push({ sign: ' ', text: gone })
      at += 1
      to += 1
    } else if (gone !== undefined && (come === undefined || skipsOld)) {
      lines.push({ sign: '-', text: gone })
      at += 1
    } else {
      lines.push({ sign: '+', text: come ?? '' })
      to += 1
    }
  }
  return lines
}

/** Returns the lengths of the longest common subsequences after each pair of lines. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0))
  for (let at = old.length - 1; at >= 0; at -= 1)
    for (let to = now.length - 1; to >= 0; to -= 1) {
      const row = lengths[at] as number[]
      row[to] =
        old[at] === now[to]
          ? (lengths[at + 1]?.[to + 1] ?? 0) + 1
          : Math.max(lengths[at + 1]?.[to] ?? 0, row[to + 1] ?? 0)
    }
  return lengths
}
