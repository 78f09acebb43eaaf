"""What an answer of the model must satisfy before anything of it is believed. All of it is deterministic.

Every rule is a named function that yields one detail per breach; its name in the tables of `table` is what a metric
carries. Drop rules (laundering, secrets) drop the claim. All others make the answer be asked for once more.
"""

from extraction.rules.table import ANSWER_RULES, CLAIM_RULES, DROP_RULES, Verdict, judge

__all__ = ["ANSWER_RULES", "CLAIM_RULES", "DROP_RULES", "Verdict", "judge"]
