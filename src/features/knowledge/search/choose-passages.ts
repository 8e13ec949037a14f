import type { SearchedPassage } from '#models/language-model/passages.ts'

/** The share of a prompt for the passages of a question, in characters: less than is kept free for them. */
const passageCharacters = 12_000
const maxPassages = 6

/** Of one source, as long as others have something that is nearly as good as the best. */
const maxOfOne = 3
const nearlyAsGood = 0.6

/** The results that a question gets unasked, best first: as many as fit, and no source crowds out the others. */
export function choosePassages<Result extends SearchedPassage>(
  results: readonly Result[],
  characters: number,
): Result[] {
  const spread = new Set(spreadOver(results))
  const rest = results.filter(result => !spread.has(result))
  const chosen = new Set<Result>()
  let room = Math.min(passageCharacters, characters)
  for (const result of [...spread, ...rest]) {
    if (chosen.size === maxPassages) break
    if (result.content.length > room) continue
    chosen.add(result)
    room -= result.content.length
  }
  return results.filter(result => chosen.has(result))
}

function spreadOver<Result extends SearchedPassage>(results: readonly Result[]): Result[] {
  const best = results[0]?.score ?? 0
  const counts = new Map<string, number>()
  return results.filter(({ source_id, score }) => {
    const count = (counts.get(source_id) ?? 0) + 1
    counts.set(source_id, count)
    return count <= maxOfOne && score >= best * nearlyAsGood
  })
}
