import { AppError } from '#platform/errors.ts'

/** Thrown if too many statements wait to start another: a retry can succeed soon. */
export class SqlBusy extends AppError {
  constructor() {
    super('SQL_FAILED', 'Too many statements are waiting to run. Try again in a moment.')
  }
}
