import type { Source, SourceStatus } from './sources.schema.ts'

/*
 * (none) --upload, query or URL--> processing --> ready | error
 * ready --refresh--> updating --> ready | error        error --refresh--> processing (updating if it was ready before)
 * (none) --crawl--> crawling --> ready | error         ready, error --reindex--> crawling
 * ready, error --another embedding--> updating --> as before | error
 * If as many sources are being worked on as may be at a time, a refresh leads to pending first, and from there to updating or
 * processing when its job begins.
 */

export const inWork: readonly SourceStatus[] = ['pending', 'processing', 'crawling', 'updating']

/** Whether a job is working on the source, or soon will be. */
export function isInWork(status: SourceStatus): boolean {
  return inWork.includes(status)
}

/** The status of a source while its job runs. */
export function workingStatus({ chunks }: Source): SourceStatus {
  return chunks === undefined ? 'processing' : 'updating'
}
