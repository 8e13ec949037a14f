import { AppError } from '#platform/errors.ts'

/** So many statements are waiting that this one was not started: it may succeed soon. */
export class SqlBusy extends AppError {
  constructor() {
    super('SQL_FAILED', 'Too many statements are waiting to run. Try again in a moment.')
  }
}
