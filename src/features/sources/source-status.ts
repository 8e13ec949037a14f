import type { SourceStatus } from './sources.schema.ts'

/*
 * (none) --upload, query or address--> processing --> ready | error
 * ready --refresh--> updating --> ready | error        error --refresh--> processing (updating if it was ready before)
 */

const inWork: readonly SourceStatus[] = ['pending', 'processing', 'crawling', 'updating']

/** Whether a job is at work on the source, or will be soon. */
export function isInWork(status: SourceStatus): boolean {
  return inWork.includes(status)
}
