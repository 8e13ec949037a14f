export type { Answering } from './answering/answering.ts'
