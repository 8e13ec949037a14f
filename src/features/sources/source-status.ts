import type { Source, SourceStatus } from './sources.schema.ts'

/*
 * (none) --upload, query or URL--> processing --> ready | error
 * ready --refresh--> updating --> ready | error        error --refresh--> processing (updating if it was ready before)
 * (none) --crawl--> crawling --> ready | error         ready, error --reindex--> crawling
 * ready, error --another embedding--> updating --> as before | error
 * At the limit of sources in work, a refresh leads to pending first, then to updating or processing when its
 * job begins.
 */

export const inWork: readonly SourceStatus[] = ['pending', 'processing', 'crawling', 'updating']

/** True if a job is working on the source, or soon will. */
export function isInWork(status: SourceStatus): boolean {
  return inWork.includes(status)
}

/** Returns the status of a source while its job runs. */
export function workingStatus({ chunks }: Source): SourceStatus {
  return chunks === undefined ? 'processing' : 'updating'
}
