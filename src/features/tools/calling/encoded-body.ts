import type { HttpRequest } from './http-configuration.ts'

export interface EncodedBody {
  contentType: string
  body: NonNullable<HttpRequest['body']>
}
