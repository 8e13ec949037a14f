/** A problem that an operator has to fix before the model can be used, as a sentence without any local path. */
export class LocalModelProblem extends Error {}
