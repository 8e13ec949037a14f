export type { Question } from './answering/question.ts'
