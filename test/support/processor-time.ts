/** What work costs this thread, whatever other threads and programs do, and by a measure that is the same on slow machines. */

/** Milliseconds that `pieceOfWork` takes on a machine of our days that has nothing else to do. */
const usual = 50

/** Milliseconds of the processor; where it takes longer for everything at present, that counts as fewer. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = slowness()
  const spent = await threadTime(work)
  return spent / Math.max(before, slowness())
}

/** Milliseconds of the processor as they are, for comparisons: how slow the machine is differs from one moment to the next. */
export async function threadTime(work: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage()
  await work()
  return millisecondsOf(process.threadCpuUsage(begun))
}

/** How many times longer than usual this thread takes for the same at present; at least 1. */
export function slowness(): number {
  const begun = process.threadCpuUsage()
  pieceOfWork()
  return Math.max(1, millisecondsOf(process.threadCpuUsage(begun)) / usual)
}

export function millisecondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000
}

/** Some of everything: objects, texts and sorting, in more memory than is near to the processor. */
function pieceOfWork(): number {
  const words = Array.from({ length: 50_000 }, (_, at) => ({ at, word: `word ${(at * 7919) % 50_021}` }))
  words.sort((one, other) => (one.word < other.word ? -1 : 1))
  const text = words.map(({ word }) => word).join(' ')
  return text.split(/\s+/).filter(word => word.endsWith('7')).length
}

// The first time counts for no measure: the engine has nothing compiled yet.
pieceOfWork()
