/*
 * What packed blocks of dictionary 1 begin with in the compressor's memory: the words that blocks consist of, the most
 * common last. Stored blocks can't be read without it, so not a byte of it may change: another one is dictionary 2.
 */

const parts = [
  '{"agents":[{"aliases":[],"id":"","keys":[{"did":"did:key:z6Mk","grants":[{"kinds":["*"],"streams":["*"]}],',
  '"level":"file","machine":""}],"read":["*"]}],"format":1,"prev":{"/":"baguqeera"},',
  '"roots":[{"did":"did:key:z6Mk","holder":""}],"threshold":1,"version":',
  '{"checks":[{"name":"","result":"passed"}],"history":"complete","notMade":[],"verdict":"complete"',
  '"payload":{"author":"","body":{"/":"baguqeera"},"kind":"envelope","name":"","parents":[{"/":"baguqeera"}],',
  '"prev":[{"/":"baguqeera"}],"refs":[{"/":"bafkrei"}],"roster":{"/":"baguqeera"},"seq":1,"shallow":[],',
  '"signer":"did:key:z6Mk","store":{"/":"baguqeera"},"stream":"csag:","v":1},"sig":{"/":{"bytes":"',
  ' because should which were with from have this that been into more than when before after check result',
  ' test failed passed error change file of the in and to is for are not was by on it as be or an at',
  '"conflicts":[{"competing_heads":["csag:handoff/","conflict_status":"resolved","description":"",',
  '"resolution":"","resolved_by_head":"csag:handoff/"}],{"actions":[{"acceptance_criteria":[""],',
  '"action_status":"in_progress","action_type":"analysis","created_by":"csag:agent/",',
  '"created_on":"2026-01-01T00:00:00Z","dependencies":["csag:handoff/"],"description":"",',
  '"id":"csag:handoff/","owner":"csag:agent/","target_assertions":["csag:assertion/csag:doc/",',
  '"target_knowledge_gaps":["csag:gap/"]},{"acceptance_criteria":["","action_status":"completed",',
  '"action_status":"proposed","action_status":"blocked","action_status":"ready"."],"assessments":[',
  '{"assessment_status":"accepted","assessment_status":"disputed","assessment_status":"open",',
  '"assessment_text":"","basis_artifacts":["csag:handoff/","basis_executions":["csag:handoff/",',
  '"basis_refs":["csag:evidence/csag:doc/","created_by":"csag:agent/","created_on":"2026-"],"conflicts":[],',
  '"created_by":"csag:agent/","created_on":"2026-01-01T00:00:00Z","current_heads":["csag:handoff/",',
  '"envelope_version":"1.0.0","executions":[{"action_ref":"csag:handoff/","code_commit":"","command":"',
  'npm test -- --run uv run csag validate paper.json --report-out report.json",',
  '"completed_on":"2026-01-01T00:00:00Z","created_by":"csag:agent/","environment":"environment.lock#sha256=",',
  '"execution_outcome":"","execution_status":"completed","execution_status":"failed",',
  '"execution_type":"validation","id":"csag:handoff/","inputs":[{"artifact_path":"https://',
  '"parents":["csag:handoff/","revision":"csag:handoff/","source_artifacts":[{"artifact_path":"paper.json",',
  '"artifact_role":"paper_extraction","byte_size":1000,"id":"csag:handoff/"/artifact/R0001-S0001",',
  '"media_type":"application/json","sha256":""artifact_path":"source.md",',
  '"artifact_role":"source_markdown","byte_size":2000,"id":"","media_type":"text/markdown","sha256":"",',
  '"artifact_role":"code","artifact_role":"dataset","media_type":"text/csv","artifact_role":"result",',
  '"artifact_role":"article_metadata","artifact_role":"quality_report","media_type":"text/plain","}],',
  '"outputs":[{"artifact_path":"report.json","artifact_role":"validation_report","byte_size":3000,',
  '"id":"csag:handoff/","media_type":"application/json","sha256":""}],"started_on":"2026-01-01T00:00:00Z"},',
  '{"action_ref":"csag:handoff/action/R0001-AC0001/execution/R0001-EX0001-IN0001-OUT0001',
  '/assessment/R0001-AS0001/revision/R0001","',
]

/** The bytes of dictionary 1, all of them ASCII. */
export const dictionary1: Uint8Array = new TextEncoder().encode(parts.join(''))
