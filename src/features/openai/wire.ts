import type { OpenAiError } from '#platform/http/errors/error-format.ts'
import type { Answer, Report } from './door.service.ts'

/** Formats the responses of one of OpenAI's APIs. Parts of a stream are text as it is sent. */
export type Wire<Body> = (given: { id: string; created: number; body: Body }) => {
  whole(answer: Answer): object
  begin(): string
  piece(piece: Parameters<Report>[0]): string
  end(answer: Answer): string
  fail(error: OpenAiError): string
}
