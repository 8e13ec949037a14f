import { AppError } from '#platform/errors.ts'

/** So many statements wait that this one was not begun: the same may run in a moment. */
export class SqlBusy extends AppError {
  constructor() {
    super('SQL_FAILED', 'Too many statements are waiting to run. Try again in a moment.')
  }
}
