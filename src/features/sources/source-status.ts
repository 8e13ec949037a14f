import type { Source, SourceStatus } from './sources.schema.ts'

/*
 * (none) --upload, query or address--> processing --> ready | error
 * ready --refresh--> updating --> ready | error        error --refresh--> processing (updating if it was ready before)
 * Where as many sources are in work as are worked on at a time, a refresh leads to pending first, and from there to updating or
 * processing when its job begins.
 */

export const inWork: readonly SourceStatus[] = ['pending', 'processing', 'crawling', 'updating']

/** Whether a job is at work on the source, or will be soon. */
export function isInWork(status: SourceStatus): boolean {
  return inWork.includes(status)
}

/** While its job runs. */
export function workingStatus({ chunks }: Source): SourceStatus {
  return chunks === undefined ? 'processing' : 'updating'
}
