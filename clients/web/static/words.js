// Every word of the page itself, English and 中文. Texts of a session come worded from the daemon.

import { state } from "./store.js";

const WORDS = {
  skip: ["Skip to the path", "跳到路径"],
  north_star: ["North Star", "北极星目标"],
  now: ["Now", "现在"], why: ["Why", "原因"], next: ["Next", "下一步"], watch: ["Watch", "留意"],
  expected: ["Proof expected", "预期证据"], if_fails: ["If it fails", "若失败"],
  set_aside: ["Set aside", "已作废"], latest_ask: ["Latest request", "最近的请求"],
  declared: ["declared", "声明"], observed: ["observed", "观察"], inferred: ["inferred", "推断"],
  human: ["a person", "人"], unknown: ["unknown", "未知"],
  about_declared: ["The agent said so", "Agent 自己声明"],
  about_observed: ["Seen in what was done", "从行为中观察到"],
  about_inferred: ["A guess from what was asked or done", "由请求或行为推断"],
  about_human: ["A person said so", "由人说出"],
  about_unknown: ["Nobody said or showed it", "没有人说过，也没有观察到"],
  aligned: ["aligned", "一致"], lagging: ["lagging", "可能过期"], diverged: ["diverged", "已偏离"],
  pending: ["pending", "待定"],
  path: ["The path", "路径"], travelled: ["Travelled", "走过"], near: ["Near", "近"], mid: ["Mid", "中"], far: ["Far", "远"],
  path_help: ["Arrow keys move along the path, Enter opens the evidence", "方向键沿路径移动，回车打开证据"],
  nothing_drawn: ["No path is declared. This is what was observed.", "没有声明路径。以下是观察到的。"],
  follow: ["Follow the token", "跟随令牌"], whole: ["Whole path", "整条路径"], closer: ["Closer", "放大"], wider: ["Wider", "缩小"],
  idle: ["not started", "未开始"], active: ["active", "进行中"], completed: ["completed", "已完成"],
  failed: ["failed", "失败"], retired: ["retired", "已作废"], superseded: ["superseded", "已取代"],
  enabled: ["ready", "可开始"], tension: ["tension", "有分歧"], pinned: ["pinned", "已固定"], shell: ["several steps inside", "含子步骤"],
  provisional: ["provisional", "暂定"],
  claimed: ["claimed", "自称"], satisfied: ["satisfied", "已满足"], verified: ["verified", "已验证"],
  invalidated: ["invalidated", "被否定"], unreachable: ["unreachable", "不可达"],
  open: ["open", "打开"], closed: ["closed", "关闭"], blocked: ["blocked", "受阻"],
  token_here: ["the agent is here", "Agent 在这里"],
  Goal: ["Goal", "目标"], Condition: ["Condition", "条件"], InformationNeed: ["Open question", "待解问题"],
  DecisionOutcome: ["Decision", "决定"], Gate: ["Gate", "关口"], Verified: ["Verified", "验证"], Outcome: ["Outcome", "结果"],
  Investigate: ["Investigate", "调查"], Decide: ["Decide", "决定"], Implement: ["Implement", "实现"], Verify: ["Verify", "验证"],
  Recover: ["Recover", "恢复"], AskHuman: ["Ask a person", "询问人"], Branch: ["Branch", "分支"], Conclude: ["Conclude", "收尾"],
  contract: ["What was declared", "声明的内容"], why_now: ["Why now", "为何现在"], action: ["Action", "行动"],
  proof: ["Expected evidence", "预期证据"], exit: ["Done when", "退出条件"], fails_when: ["Fails when", "失败条件"],
  owner: ["Owner", "负责"], reason: ["Reason", "理由"], replaced_by: ["Replaced by", "取代者"],
  shown_so_far: ["shown", "已出现"], not_shown: ["not shown yet", "尚未出现"],
  evidence: ["Evidence", "证据"], no_evidence: ["None so far.", "暂无。"],
  troubles: ["Errors, counted", "错误（计数）"], episodes: ["What was done", "做过的事"], no_episodes: ["Nothing was observed for it.", "没有观察到相关活动。"],
  calls: ["{n} calls", "{n} 次调用"], files: ["{r} files read, {c} changed", "读 {r} 个文件，改 {c} 个"],
  times: ["×{n}", "×{n}"], refused_by_user: ["refused by you", "被你拒绝"], tool_error: ["tool error", "工具出错"],
  ok: ["ok", "正常"], blocked_by_policy: ["blocked", "被阻止"], aborted: ["aborted", "已中止"], provider_outage: ["model service down", "模型服务故障"],
  rate_limit: ["rate limit", "速率限制"], sibling_failed: ["a parallel call failed", "并行调用失败"],
  pass: ["pass", "通过"], fail: ["fail", "失败"],
  inspect: ["reading", "阅读"], search: ["searching", "搜索"], edit: ["editing", "编辑"], test: ["testing", "测试"], build: ["building", "构建"],
  run: ["running commands", "运行命令"], instrument: ["instrumenting", "添加观测"], plan: ["planning", "规划"], ask: ["asking", "提问"],
  delegate: ["sub-agent", "子代理"], other: ["other", "其他"],
  provenance: ["Where this comes from", "来源"], firings: ["started ×{n}", "开始过 {n} 次"], by_agent: ["declared by {who}", "由 {who} 声明"],
  moved: ["moved here by a person", "由人移到这里"],
  leads_in: ["Comes from", "来自"], leads_out: ["Opens", "打开"],
  says: ["Declared", "声明"], does: ["Observed", "观察"], resolves: ["Settled by", "化解于"],
  fold: ["Hide what is inside", "收起内部"], unfold: ["Show what is inside", "展开内部"],
  pin: ["Pin", "固定"], unpin: ["Unpin", "取消固定"], close: ["Close", "关闭"],
  overview: ["Overview", "总览"], spine: ["Path so far", "走过的路径"], retired_list: ["Already tried", "已试过"], watches: ["To watch", "值得留意"],
  plan_list: ["The agent's own plan", "Agent 自己的计划"], receipts: ["What you said", "你说过的"], tensions: ["Tensions", "分歧"],
  coverage_partial: ["Seen only in part", "只看到一部分"], coverage_unknown: ["Seen only in part", "只看到一部分"],
  next_record: ["NEXT was right {a} of {b} times", "“下一步”说对 {a}/{b} 次"], none: ["none", "无"],
  answers: ["The eight questions", "八个问题"],
  say_label: ["Put the agent right in one line", "用一行话纠正 Agent"],
  say_placeholder: ["e.g. only find the cause; do not optimise yet", "例如：先不要优化，只验证根因"],
  say_send: ["Send", "发送"], say_as: ["taken as", "理解为"], say_about: ["about", "关于"],
  only_looking: ["This page looks on. To correct, type: wayfinder open", "此页只能查看。要纠正，请运行：wayfinder open"],
  in_past: ["You look at the past; corrections go to the present.", "你在看过去；纠正只作用于现在。"],
  t_text: ["your words, as they are", "原话"], t_goal: ["the goal", "目标"], t_retire: ["no longer matters", "不再重要"],
  t_gate: ["ask me here", "这里由我判断"], t_open_gate: ["go on through this gate", "放行"], t_redescribe: ["better words", "改写描述"],
  t_only: ["only this for now", "目前只做这个"], t_wrong_step: ["wrong step", "不该做这一步"], t_reassociate: ["belongs elsewhere", "属于别处"],
  t_supersede: ["do this instead", "改做这个"], t_undo: ["taken back", "已收回"], t_accept: ["accepted", "已接受"], t_reject: ["rejected", "已拒绝"],
  words_for: ["The right words for it", "正确的描述"], undo: ["Undo", "撤销"], undone: ["taken back", "已收回"],
  move_to: ["Belongs to another step", "属于另一步"], choose_step: ["choose a step", "选择步骤"],
  stage_none: ["not sent yet", "尚未送出"], stage_sent: ["sent", "已送出"], stage_in_turn: ["in the turn", "进入轮次"], stage_acknowledged: ["acknowledged", "已知悉"],
  stage_obeyed: ["obeyed", "已遵守"], stage_violated: ["not kept", "未遵守"], stage_lapsed: ["lapsed", "已失效"],
  taken: ["Taken. It goes into the agent's next turn.", "已接受，会进入 Agent 的下一轮。"],
  rejected: ["Not possible: expected {what}", "不可行：应为 {what}"], conflict: ["It changed since you looked; look again and repeat.", "你看过之后它变了；请再看一次。"],
  refused: ["Refused: {what}", "被拒绝：{what}"], waits_click: ["It waits for your click below.", "等你在下方点击确认。"],
  waiting_title: ["Did you say this?", "这是你说的吗？"], waiting_why: ["It is not certain that a person sent it ({why}).", "无法确定是人发出的（{why}）。"],
  yes_mine: ["Yes, it was me", "是我说的"], not_mine: ["No, drop it", "不是，丢弃"],
  proposal_title: ["A proposal waits for you", "有提议等你决定"], proposal_by: ["by {who}, on revision {n}", "由 {who} 提出，基于修订 {n}"],
  accept: ["Accept", "接受"], reject: ["Reject", "拒绝"],
  since_title: ["Since you looked", "自上次查看以来"], seen: ["Seen", "知道了"],
  asks_you: ["The agent asks you something", "Agent 正在问你"],
  sessions: ["Sessions", "会话"], find: ["Find a label, reason or error", "查找标签、理由或错误"], no_hits: ["Nothing found.", "没有找到。"],
  no_sessions: ["No session yet. Start an agent that Wayfinder knows, or type: wayfinder demo", "还没有会话。启动一个已连接的 Agent，或运行：wayfinder demo"],
  working: ["working", "工作中"], quiet: ["silent", "沉默"], waits: ["waits for you", "等你"], stop: ["waits for you", "等你"], error: ["ended with an error", "因错误结束"],
  outage: ["model service failed", "模型服务故障"], length: ["answer too long", "回答过长"], ended: ["over", "已结束"], detached: ["not connected", "未连接"],
  ago: ["{age} ago", "{age}前"], just_now: ["just now", "刚刚"], running_tool: ["{tool} for {age}", "{tool} 已 {age}"],
  sec: ["{n} s", "{n} 秒"], min: ["{n} min", "{n} 分钟"], hour: ["{n} h", "{n} 小时"], day: ["{n} d", "{n} 天"],
  replay: ["Replay", "回放"], replay_on: ["Replay", "回放"], leave: ["Leave", "离开"], play: ["Play", "播放"], pause: ["Pause", "暂停"],
  back: ["Back", "后退"], forth: ["Forward", "前进"], moment_of: ["Moment {a} of {b}", "第 {a} / {b} 刻"],
  m_path: ["path declared", "声明路径"], m_episode: ["work observed", "观察到活动"], m_prompt: ["request", "请求"], m_correction: ["correction", "纠正"], m_settled: ["at rest", "停下"],
  language: ["中文", "English"], theme_dark: ["Dark", "深色"], theme_light: ["Light", "浅色"],
  help: ["Keys and marks", "按键与标记"], legend: ["Marks", "标记"], keys: ["Keys", "按键"],
  k_path: ["go to the path; arrows move, Enter opens", "到路径；方向键移动，回车打开"], k_say: ["correct the agent", "纠正 Agent"], k_sessions: ["sessions and search", "会话与查找"],
  k_overview: ["overview", "总览"], k_replay: ["replay: ← → step, P play, Esc leave", "回放：← → 逐步，P 播放，Esc 离开"], k_follow: ["follow the token, whole path, closer, wider", "跟随、全貌、放大、缩小"],
  k_language: ["English or 中文", "English 或 中文"], k_theme: ["dark or light", "深色或浅色"], k_help: ["this help", "本帮助"], k_close: ["close what is open", "关闭当前面板"],
  away: ["No connection to wayfinderd; trying again.", "与 wayfinderd 的连接断开；正在重试。"], connecting: ["Connecting", "正在连接"],
  signedout: ["This page is not signed in.", "此页尚未登录。"], signedout_do: ["Type this in a terminal; the link works once, within a minute:", "在终端运行下面的命令；链接一分钟内有效，只能用一次："],
  gone: ["This session was deleted.", "此会话已被删除。"], failed_request: ["That did not work: {what}", "没有成功：{what}"],
  new_page: ["Another page was signed in just now.", "刚刚有另一个页面登录。"], observed_only: ["observed only: nothing was declared", "仅观察：没有声明"],
};

export function t(key, params = {}) {
  const pair = WORDS[key];
  if (!pair) return String(key).replaceAll("_", " ");
  return pair[state.language === "zh" ? 1 : 0].replace(/\{(\w+)\}/g, (_, name) => params[name] ?? "");
}

/** How long, in words: one unit. */
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return t("sec", { n: seconds });
  if (seconds < 3600) return t("min", { n: Math.floor(seconds / 60) });
  if (seconds < 86400) return t("hour", { n: Math.floor(seconds / 3600) });
  return t("day", { n: Math.floor(seconds / 86400) });
}

export function ago(at, now = Date.now()) {
  const ms = now - (typeof at === "string" ? Date.parse(at) : at);
  return ms < 5000 ? t("just_now") : t("ago", { age: span(ms) });
}

export const clock = (ts) =>
  new Date(ts).toLocaleTimeString(state.language === "zh" ? "zh-CN" : "en-GB");
