declare const outcome: string, complete: boolean;
declare const scores: number[];
declare const role: "minimal" | "maximal_failing" | null | undefined;
export { complete, outcome, role, scores };
