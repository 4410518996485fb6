-- SPDX-License-Identifier: MIT
--
-- torcoll's frames in Wireshark and tshark. Layout and meaning: docs/wire.md.
--
--	tshark -X lua_script:torcoll.lua -i eth0 -Y torcoll
--
-- or put it in the folder "Personal Lua Plugins" of Help, About Wireshark, Folders. A fabric with an
-- EtherType of its own needs it in the preferences, in decimal: -o torcoll.ethertype:34999 for 0x88b7.

local HDR, ACK, HELLO, ABORT, COMM = 64, 32, 72, 72, 64
local HELLO_MORE, TERMS = 76, 128
local CALL = 24
local ETHER = 14
local VERSION, ACKS_MAX, RECORDS_MAX, ERRNO_MAX = 2, 32, 64, 4095
local NONE = 0xffffffff

local T_HELLO, T_DATA, T_ACK, T_ABORT, T_COMM, T_ECHO, T_PACKET = 1, 2, 3, 4, 5, 6, 7
local types = {
	[T_HELLO] = "hello", [T_DATA] = "data", [T_ACK] = "ack", [T_ABORT] = "abort",
	[T_COMM] = "comm", [T_ECHO] = "echo", [T_PACKET] = "packet",
}
local states = { [0] = "ok", [1] = "not ready", [2] = "done", [3] = "absent", [4] = "past" }
-- Those from 2 on in meshes only.
local dirs = { [0] = "plus", [1] = "minus" }
for steps = 1, 12 do
	dirs[steps + 1] = "+" .. steps
end
local steps = {
	[1] = "join", [2] = "wait", [3] = "ready", [4] = "accept", [5] = "go", [6] = "refuse",
	[7] = "leave", [8] = "shrink", [9] = "left", [10] = "shrink: wait", [11] = "shrink: ready",
	[12] = "shrink: accept", [13] = "shrink: go", [14] = "shrink: out",
}
local causes = {
	[0] = "not known", [1] = "another list of members", [2] = "another checksum",
	[3] = "another byte order", [4] = "no terms",
}
-- Linux' numbers, of the errors that travel.
local errnos = {
	[0] = "none", [4] = "EINTR", [12] = "ENOMEM", [13] = "EACCES", [14] = "EFAULT", [17] = "EEXIST",
	[22] = "EINVAL", [71] = "EPROTO", [95] = "EOPNOTSUPP", [103] = "ECONNABORTED",
	[110] = "ETIMEDOUT", [112] = "EHOSTDOWN", [113] = "EHOSTUNREACH", [125] = "ECANCELED",
}

local proto = Proto("torcoll", "torcoll collectives on a torus")

proto.prefs.ethertype = Pref.uint("EtherType", 0x88b5, "That of the fabric (0x88b5 unless set)")
proto.prefs.payload_crc = Pref.bool("Check payloads", true, "Compute the CRC32C of every payload")

-- ---- fields ----

local f = proto.fields

f.version = ProtoField.uint8("torcoll.version", "Version")
f.type = ProtoField.uint8("torcoll.type", "Type", base.DEC, types)
f.hop_limit = ProtoField.uint8("torcoll.hop_limit", "Hop limit")
f.acks = ProtoField.uint8("torcoll.acks", "Acks")
f.fabric = ProtoField.uint32("torcoll.fabric", "Fabric tag", base.HEX)
f.src = ProtoField.uint32("torcoll.src", "Source node")
f.dst = ProtoField.uint32("torcoll.dst", "Destination node")
f.src_epoch = ProtoField.uint32("torcoll.src_epoch", "Source epoch", base.HEX)
f.dst_epoch = ProtoField.uint32("torcoll.dst_epoch", "Destination epoch", base.HEX)
f.comm = ProtoField.uint32("torcoll.comm", "Comm tag", base.HEX)
f.op = ProtoField.uint32("torcoll.op", "Op")
f.digest = ProtoField.uint32("torcoll.digest", "Digest", base.HEX)
f.channel = ProtoField.uint8("torcoll.channel", "Channel")
f.flags = ProtoField.uint8("torcoll.flags", "Flags", base.HEX)
f.flags_ack = ProtoField.bool("torcoll.flags.ack", "Acknowledge now", 8, nil, 0x01)
f.flags_retransmit = ProtoField.bool("torcoll.flags.retransmit", "Sent before", 8, nil, 0x02)
f.flags_probe = ProtoField.bool("torcoll.flags.probe", "Probe", 8, nil, 0x04)
f.flags_whole = ProtoField.bool("torcoll.flags.whole", "Whole transfer", 8, nil, 0x08)
f.flags_reply = ProtoField.bool("torcoll.flags.reply", "Answer", 8, nil, 0x10)
f.flags_big_endian = ProtoField.bool("torcoll.flags.big_endian", "Payloads are big-endian", 8, nil, 0x20)
f.flags_unsummed = ProtoField.bool("torcoll.flags.unsummed", "Payloads have no checksum", 8, nil, 0x40)
f.round = ProtoField.uint16("torcoll.round", "Round")
f.offset = ProtoField.uint64("torcoll.offset", "Offset in the transfer")
f.length = ProtoField.uint32("torcoll.length", "Payload length")
f.stamp = ProtoField.uint32("torcoll.stamp", "Stamp (us)")
f.payload_crc = ProtoField.uint32("torcoll.payload_crc", "Payload CRC32C", base.HEX)
f.header_crc = ProtoField.uint32("torcoll.header_crc", "Header CRC32C", base.HEX)
f.payload = ProtoField.bytes("torcoll.payload", "Payload")
f.padding = ProtoField.bytes("torcoll.padding", "Padding")

f.ack = ProtoField.none("torcoll.ack", "Ack")
f.ack_comm = ProtoField.uint32("torcoll.ack.comm", "Comm tag", base.HEX)
f.ack_op = ProtoField.uint32("torcoll.ack.op", "Op")
f.ack_channel = ProtoField.uint8("torcoll.ack.channel", "Channel")
f.ack_state = ProtoField.uint8("torcoll.ack.state", "State", base.DEC, states)
f.ack_round = ProtoField.uint16("torcoll.ack.round", "Round")
f.ack_base = ProtoField.uint32("torcoll.ack.base", "All frames arrived below")
f.ack_mask = ProtoField.uint64("torcoll.ack.mask", "Arrived from there on", base.HEX)
f.ack_stamp = ProtoField.uint32("torcoll.ack.stamp", "Echoed stamp (us)")
f.ack_digest = ProtoField.uint32("torcoll.ack.digest", "Digest", base.HEX)

f.hello = ProtoField.none("torcoll.hello", "Hello")
f.hello_version = ProtoField.stringz("torcoll.hello.version", "Module version")
f.hello_dim = ProtoField.uint8("torcoll.hello.dim", "Dimension of the port")
f.hello_dir = ProtoField.uint8("torcoll.hello.dir", "Way of the port (0: plus, 1: minus; mesh: steps - 1)")
f.hello_ndim = ProtoField.uint8("torcoll.hello.ndim", "Dimensions")
f.hello_hears = ProtoField.uint8("torcoll.hello.hears", "Hears its neighbour")
f.hello_side = ProtoField.uint32("torcoll.hello.side", "Side")
f.hello_frame_size = ProtoField.uint32("torcoll.hello.frame_size", "Frame size of the port")
f.hello_fabric_frame = ProtoField.uint32("torcoll.hello.fabric_frame", "Frame size of the fabric")
f.hello_heard_node = ProtoField.uint32("torcoll.hello.heard_node", "Node heard")
f.hello_heard_epoch = ProtoField.uint32("torcoll.hello.heard_epoch", "Its epoch", base.HEX)
f.hello_interval = ProtoField.uint32("torcoll.hello.interval_ms", "Interval (ms)")
f.hello_view = ProtoField.uint32("torcoll.hello.view", "View of the links")
f.hello_records = ProtoField.uint32("torcoll.hello.records", "Link records")
f.hello_name = ProtoField.stringz("torcoll.hello.name", "Host")
f.hello_rates = ProtoField.uint32("torcoll.hello.rates", "Hash of the rates", base.HEX)
f.hello_sent = ProtoField.uint32("torcoll.hello.sent", "Frames sent by the port")
f.hello_cables = ProtoField.uint8("torcoll.hello.cables", "Cables of a ring of 2")
f.record = ProtoField.none("torcoll.record", "Link record")
f.record_node = ProtoField.uint32("torcoll.record.node", "Node")
f.record_epoch = ProtoField.uint32("torcoll.record.epoch", "Epoch", base.HEX)
f.record_seq = ProtoField.uint32("torcoll.record.seq", "Number")
f.record_dead = ProtoField.uint16("torcoll.record.dead", "Dead ports", base.HEX)
f.record_frame = ProtoField.uint16("torcoll.record.frame", "Frame size")

f.abort = ProtoField.none("torcoll.abort", "Abort")
f.abort_error = ProtoField.uint32("torcoll.abort.error", "Error", base.DEC, errnos)
f.abort_rank = ProtoField.uint32("torcoll.abort.rank", "Rank that caused it")
f.abort_node = ProtoField.uint32("torcoll.abort.node", "Node that caused it")
f.abort_op = ProtoField.uint32("torcoll.abort.op", "At op")
f.abort_digest = ProtoField.uint32("torcoll.abort.digest", "Digest", base.HEX)
f.call = ProtoField.none("torcoll.call", "Call")
f.call_count = ProtoField.uint64("torcoll.call.count", "Count")
f.call_rank = ProtoField.uint32("torcoll.call.rank", "Rank")
f.call_root = ProtoField.uint32("torcoll.call.root", "Root")
f.call_collective = ProtoField.uint8("torcoll.call.collective", "Collective")
f.call_type = ProtoField.uint8("torcoll.call.type", "Type")
f.call_redop = ProtoField.uint8("torcoll.call.redop", "Operator")
f.call_bits = ProtoField.uint8("torcoll.call.bits", "Bits")
f.call_algorithm = ProtoField.uint16("torcoll.call.algorithm", "Algorithm")
f.call_reserved = ProtoField.uint16("torcoll.call.reserved", "Reserved", base.HEX)

f.join = ProtoField.none("torcoll.join", "Comm message")
f.join_step = ProtoField.uint8("torcoll.join.step", "Step", base.DEC, steps)
f.join_reserved = ProtoField.uint24("torcoll.join.reserved", "Reserved", base.HEX)
f.join_error = ProtoField.uint32("torcoll.join.error", "Error", base.DEC, errnos)
f.join_name = ProtoField.uint64("torcoll.join.name", "Hash of the name", base.HEX)
f.join_proof = ProtoField.uint64("torcoll.join.proof", "Hash of name and secret", base.HEX)
f.join_members = ProtoField.uint64("torcoll.join.members", "Hash of the members", base.HEX)
f.join_nonce = ProtoField.uint32("torcoll.join.nonce", "Nonce of the call", base.HEX)
f.join_rank = ProtoField.uint32("torcoll.join.rank", "Rank")
f.join_ranks = ProtoField.uint32("torcoll.join.ranks", "Ranks")
f.join_missing = ProtoField.uint32("torcoll.join.missing", "First rank missing")
f.join_tag = ProtoField.uint32("torcoll.join.tag", "Tag of the comm", base.HEX)
f.join_generation = ProtoField.uint32("torcoll.join.generation", "Generation")
f.join_frame_bytes = ProtoField.uint32("torcoll.join.frame_bytes", "Payload bytes per frame")
f.join_epochs = ProtoField.uint32("torcoll.join.epochs", "Epochs that follow")
f.join_epoch = ProtoField.uint32("torcoll.join.epoch", "Epoch", base.HEX)

f.terms = ProtoField.none("torcoll.terms", "Terms")
f.terms_flags = ProtoField.uint8("torcoll.terms.flags", "Flags", base.HEX)
f.terms_cause = ProtoField.uint8("torcoll.terms.cause", "Cause", base.DEC, causes)
f.terms_payload = ProtoField.uint16("torcoll.terms.payload", "Payload bytes per frame, 0: see above")
f.terms_refusal = ProtoField.uint32("torcoll.terms.refusal", "Number of the refusal", base.HEX)
f.terms_rank = ProtoField.uint32("torcoll.terms.rank", "Rank at fault")
f.terms_node = ProtoField.uint32("torcoll.terms.node", "Its node")
f.terms_rate = ProtoField.uint64("torcoll.terms.rate", "Rate")
f.terms_name = ProtoField.stringz("torcoll.terms.name", "Host")

-- ---- expert notes ----

local e = {}

local function note(name, text, group, severity)
	e[name] = ProtoExpert.new("torcoll." .. name .. ".bad", text, group, severity)
end

note("version", "Unknown version", expert.group.UNDECODED, expert.severity.ERROR)
note("type", "Unknown type", expert.group.UNDECODED, expert.severity.ERROR)
note("acks", "More acks than a frame may have", expert.group.MALFORMED, expert.severity.ERROR)
note("short", "Shorter than its header says", expert.group.MALFORMED, expert.severity.ERROR)
note("header_crc", "Header CRC32C wrong", expert.group.CHECKSUM, expert.severity.ERROR)
note("payload_crc", "Payload CRC32C wrong", expert.group.CHECKSUM, expert.severity.ERROR)
note("hop_limit", "Hop limit used up", expert.group.PROTOCOL, expert.severity.WARN)
note("dst", "A hello that is not for everyone, or a frame that is", expert.group.PROTOCOL,
     expert.severity.WARN)
note("flags", "Unknown flags", expert.group.PROTOCOL, expert.severity.WARN)
note("digest", "A data frame without a digest", expert.group.PROTOCOL, expert.severity.WARN)
note("length", "A data frame without payload", expert.group.PROTOCOL, expert.severity.WARN)
note("value", "A value outside its range", expert.group.MALFORMED, expert.severity.ERROR)
note("reserved", "Reserved bytes are not zero", expert.group.PROTOCOL, expert.severity.NOTE)
note("unchecked", "No payload CRC: checksum header", expert.group.CHECKSUM, expert.severity.CHAT)
proto.experts = e

-- ---- CRC32C ----

local crc_table = {}

for i = 0, 255 do
	local c = i
	for _ = 1, 8 do
		local odd = bit.band(c, 1) == 1
		c = bit.rshift(c, 1)
		if odd then
			c = bit.bxor(c, 0x82f63b78)
		end
	end
	crc_table[i] = c
end

-- The library's numbers are signed.
local function unsigned(c)
	return c < 0 and c + 0x100000000 or c
end

-- @s: the bytes as a string.
local function crc32c(s)
	local c = -1
	for i = 1, #s do
		c = bit.bxor(crc_table[bit.band(bit.bxor(c, s:byte(i)), 0xff)], bit.rshift(c, 8))
	end
	return unsigned(bit.bnot(c))
end

-- Of header and acks, with hop limit and the CRC itself as 0.
local function header_crc(tvb, len)
	local s = tvb:range(0, len):raw()
	return crc32c(s:sub(1, 2) .. "\0" .. s:sub(4, 60) .. "\0\0\0\0" .. s:sub(65))
end

-- ---- parts of a frame ----

-- Add a field and return its value and item, for notes.
local function add(tree, field, range)
	local item = tree:add(field, range)
	return range:len() == 8 and range:uint64() or range:uint(), item
end

local function none(item, value, text)
	if value == NONE then
		item:append_text(" (" .. text .. ")")
	end
end

local function dissect_ack(tvb, at, tree, info)
	local t = tree:add(f.ack, tvb(at, ACK))
	local comm = add(t, f.ack_comm, tvb(at, 4))
	local op = add(t, f.ack_op, tvb(at + 4, 4))
	local channel = add(t, f.ack_channel, tvb(at + 8, 1))
	local state, item = add(t, f.ack_state, tvb(at + 9, 1))
	if not states[state] then
		item:add_proto_expert_info(e.value)
	end
	local round = add(t, f.ack_round, tvb(at + 10, 2))
	local base_frame = add(t, f.ack_base, tvb(at + 12, 4))
	t:add(f.ack_mask, tvb(at + 16, 8))
	t:add(f.ack_stamp, tvb(at + 24, 4))
	t:add(f.ack_digest, tvb(at + 28, 4))
	local text = string.format("op %u ch %u round %u %s", op, channel, round, states[state] or "?")
	if state < 2 then
		text = text .. string.format(" below %u", base_frame)
	end
	t:set_text(string.format("Ack: comm 0x%08x %s", comm, text))
	info[#info + 1] = "ack " .. text
end

-- A side: its nodes, and how they are joined; a chord, its steps. TORCOLL_SIDE() of linux/torcoll.h.
local SIDE_KIND = 262144
local kinds = { [0] = "", ":line", ":mesh" }
local MESH, CHORD = 2, 3

local function side_nodes(side)
	return side % SIDE_KIND
end

local function side_kind(side)
	return math.floor(side / SIDE_KIND)
end

local function side_text(side)
	if side_kind(side) == CHORD then
		return string.format("+%u", side_nodes(side))
	end
	return string.format("%u%s", side_nodes(side), kinds[side_kind(side)] or ":?")
end

-- All of them, as commands print them: 4x3:line, 16+4.
local function sides_text(sides)
	local texts = {}
	for i, side in ipairs(sides) do
		texts[i] = (i > 1 and side_kind(side) ~= CHORD and "x" or "") .. side_text(side)
	end
	return table.concat(texts)
end

-- Ways out of a node along a side, and the name of one.
local function side_ways(side)
	return side_kind(side) == MESH and side_nodes(side) - 1 or 2
end

local function way_text(side, way)
	return dirs[side_kind(side) == MESH and way + 2 or way] or "?"
end

local function dissect_hello(tvb, tree, info)
	local t = tree:add(f.hello, tvb())
	if tvb:len() < HELLO then
		t:add_proto_expert_info(e.short)
		return
	end
	t:add(f.hello_version, tvb(0, 16))
	local dim, dim_item = add(t, f.hello_dim, tvb(16, 1))
	local dir, dir_item = add(t, f.hello_dir, tvb(17, 1))
	local ndim, ndim_item = add(t, f.hello_ndim, tvb(18, 1))
	local hears, hears_item = add(t, f.hello_hears, tvb(19, 1))
	local side = {}
	for i = 0, 5 do
		local n, item = add(t, f.hello_side, tvb(20 + 4 * i, 4))
		if side_kind(n) > 0 then
			item:append_text(string.format(" (%s)", side_text(n)))
		end
		if i < ndim then
			side[#side + 1] = n
		end
	end
	local along = side[dim + 1] or 0
	t:add(f.hello_frame_size, tvb(44, 4))
	t:add(f.hello_fabric_frame, tvb(48, 4))
	local heard, heard_item = add(t, f.hello_heard_node, tvb(52, 4))
	none(heard_item, heard, "nobody")
	t:add(f.hello_heard_epoch, tvb(56, 4))
	t:add(f.hello_interval, tvb(60, 4))
	t:add(f.hello_view, tvb(64, 4))
	local records, records_item = add(t, f.hello_records, tvb(68, 4))

	for _, check in ipairs({
		{ dim_item, dim >= ndim }, { dir_item, dir >= side_ways(along) }, { ndim_item, ndim == 0 or ndim > 6 },
		{ hears_item, hears > 1 }, { records_item, records > RECORDS_MAX },
	}) do
		if check[2] then
			check[1]:add_proto_expert_info(e.value)
		end
	end
	local dead = 0
	for i = 0, math.min(records, RECORDS_MAX) - 1 do
		local at = HELLO + 16 * i
		if tvb:len() < at + 16 then
			records_item:add_proto_expert_info(e.short)
			break
		end
		local r = t:add(f.record, tvb(at, 16))
		local node = add(r, f.record_node, tvb(at, 4))
		r:add(f.record_epoch, tvb(at + 4, 4))
		r:add(f.record_seq, tvb(at + 8, 4))
		local ports = add(r, f.record_dead, tvb(at + 12, 2))
		r:add(f.record_frame, tvb(at + 14, 2))
		r:append_text(string.format(": node %u, dead ports 0x%04x", node, ports))
		if ports ~= 0 then
			dead = dead + 1
		end
	end
	local more = HELLO + 16 * records
	if records <= RECORDS_MAX and tvb:len() >= more + HELLO_MORE then
		t:add(f.hello_name, tvb(more, 64))
		t:add(f.hello_rates, tvb(more + 64, 4))
		t:add(f.hello_sent, tvb(more + 68, 4))
		t:add(f.hello_cables, tvb(more + 72, 1))
	end
	info[#info + 1] = string.format("%s, port %u %s", sides_text(side), dim, way_text(along, dir))
	info[#info + 1] = hears == 1 and string.format("hears %u", heard) or "hears nobody"
	if dead > 0 then
		info[#info + 1] = string.format("dead links at %u nodes", dead)
	end
end

-- What a rank called, at @at of an abort; collective 0: not known.
local function dissect_call(tvb, tree, at)
	local t = tree:add(f.call, tvb(at, CALL))

	t:add(f.call_count, tvb(at, 8))
	t:add(f.call_rank, tvb(at + 8, 4))
	t:add(f.call_root, tvb(at + 12, 4))
	t:add(f.call_collective, tvb(at + 16, 1))
	t:add(f.call_type, tvb(at + 17, 1))
	t:add(f.call_redop, tvb(at + 18, 1))
	t:add(f.call_bits, tvb(at + 19, 1))
	t:add(f.call_algorithm, tvb(at + 20, 2))
	local reserved, reserved_item = add(t, f.call_reserved, tvb(at + 22, 2))
	if reserved ~= 0 then
		reserved_item:add_proto_expert_info(e.reserved)
	end
end

local function dissect_abort(tvb, tree, info)
	local t = tree:add(f.abort, tvb())
	if tvb:len() < ABORT then
		t:add_proto_expert_info(e.short)
		return
	end
	local err, err_item = add(t, f.abort_error, tvb(0, 4))
	if err == 0 or err > ERRNO_MAX then
		err_item:add_proto_expert_info(e.value)
	end
	local rank, rank_item = add(t, f.abort_rank, tvb(4, 4))
	none(rank_item, rank, "not known")
	local node, node_item = add(t, f.abort_node, tvb(8, 4))
	none(node_item, node, "not known")
	t:add(f.abort_op, tvb(12, 4))
	t:add(f.abort_digest, tvb(16, 4))
	t:add(f.abort_digest, tvb(20, 4))
	for i = 0, 1 do
		dissect_call(tvb, t, 24 + CALL * i)
	end
	info[#info + 1] = (errnos[err] or string.format("errno %u", err)) ..
		(rank == NONE and "" or string.format(" by rank %u", rank))
end

-- What members must have in common, at @at of a comm message.
local function dissect_terms(tvb, tree, at)
	local t = tree:add(f.terms, tvb(at, TERMS))

	t:add(f.terms_flags, tvb(at, 1))
	t:add(f.terms_cause, tvb(at + 1, 1))
	t:add(f.terms_payload, tvb(at + 2, 2))
	t:add(f.terms_refusal, tvb(at + 4, 4))
	local rank, rank_item = add(t, f.terms_rank, tvb(at + 8, 4))
	none(rank_item, rank, "not known")
	local node, node_item = add(t, f.terms_node, tvb(at + 12, 4))
	none(node_item, node, "not known")
	for i = 0, 5 do
		t:add(f.terms_rate, tvb(at + 16 + 8 * i, 8))
	end
	t:add(f.terms_name, tvb(at + 64, 64))
end

local function dissect_join(tvb, tree, info)
	local t = tree:add(f.join, tvb())
	if tvb:len() < COMM then
		t:add_proto_expert_info(e.short)
		return
	end
	local step, step_item = add(t, f.join_step, tvb(0, 1))
	if not steps[step] then
		step_item:add_proto_expert_info(e.value)
	end
	local reserved, reserved_item = add(t, f.join_reserved, tvb(1, 3))
	if reserved ~= 0 then
		reserved_item:add_proto_expert_info(e.reserved)
	end
	local err, err_item = add(t, f.join_error, tvb(4, 4))
	if err > ERRNO_MAX then
		err_item:add_proto_expert_info(e.value)
	end
	t:add(f.join_name, tvb(8, 8))
	t:add(f.join_proof, tvb(16, 8))
	t:add(f.join_members, tvb(24, 8))
	t:add(f.join_nonce, tvb(32, 4))
	local rank = add(t, f.join_rank, tvb(36, 4))
	local ranks = add(t, f.join_ranks, tvb(40, 4))
	local missing, missing_item = add(t, f.join_missing, tvb(44, 4))
	none(missing_item, missing, "none")
	t:add(f.join_tag, tvb(48, 4))
	t:add(f.join_generation, tvb(52, 4))
	t:add(f.join_frame_bytes, tvb(56, 4))
	local epochs, epochs_item = add(t, f.join_epochs, tvb(60, 4))
	if epochs > math.floor((tvb:len() - COMM) / 4) then
		epochs_item:add_proto_expert_info(e.short)
	else
		for i = 0, epochs - 1 do
			t:add(f.join_epoch, tvb(COMM + 4 * i, 4))
		end
		if tvb:len() >= COMM + 4 * epochs + TERMS then
			dissect_terms(tvb, t, COMM + 4 * epochs)
		end
	end
	info[#info + 1] = string.format("%s, rank %u of %u", steps[step] or "?", rank, ranks)
	if err ~= 0 then
		info[#info + 1] = errnos[err] or string.format("errno %u", err)
	end
end

-- The 64 bytes that every frame has. Returns what the rest needs, and items that may get notes.
local function dissect_header(tvb, tree)
	local h, item = {}, {}

	local function put(name, at, len)
		h[name], item[name] = add(tree, f[name], tvb(at, len))
	end

	put("version", 0, 1)
	put("type", 1, 1)
	put("hop_limit", 2, 1)
	put("acks", 3, 1)
	put("fabric", 4, 4)
	put("src", 8, 4)
	put("dst", 12, 4)
	put("src_epoch", 16, 4)
	put("dst_epoch", 20, 4)
	put("comm", 24, 4)
	put("op", 28, 4)
	put("digest", 32, 4)
	put("channel", 36, 1)
	put("flags", 37, 1)
	item.flags:add(f.flags_ack, tvb(37, 1))
	item.flags:add(f.flags_retransmit, tvb(37, 1))
	item.flags:add(f.flags_probe, tvb(37, 1))
	item.flags:add(f.flags_whole, tvb(37, 1))
	item.flags:add(f.flags_reply, tvb(37, 1))
	item.flags:add(f.flags_big_endian, tvb(37, 1))
	item.flags:add(f.flags_unsummed, tvb(37, 1))
	put("round", 38, 2)
	put("offset", 40, 8)
	put("length", 48, 4)
	put("stamp", 52, 4)
	put("payload_crc", 56, 4)
	put("header_crc", 60, 4)
	none(item.dst, h.dst, "everyone")
	return h, item
end

-- What a receiver would not like, or would not expect, in a header that is of this version.
local function check_header(h, item)
	local packet, all = h.type == T_PACKET, h.dst == NONE
	for _, check in ipairs({
		{ "type", not types[h.type] },
		{ "hop_limit", h.hop_limit == 0 },
		{ "dst", not packet and (h.type == T_HELLO) ~= all },
		{ "op", packet and (h.op ~= 0) ~= all, e.value },
		{ "acks", packet and h.acks ~= 0, e.value },
		{ "length", packet and h.length < ETHER, e.value },
		{ "digest", h.type == T_DATA and h.digest == 0 },
		{ "flags", bit.band(h.flags, 0x80) ~= 0 },
		{ "length", h.type == T_DATA and h.length == 0 },
	}) do
		if check[2] then
			item[check[1]]:add_proto_expert_info(check[3] or e[check[1]])
		end
	end
end

-- Returns the payload as a tvb, nil if there is none or not all of it.
local function dissect_payload(tvb, at, h, item, tree)
	local there = tvb:reported_len() - at
	if h.length > there then
		item.length:add_proto_expert_info(e.short)
		return nil
	end
	if there > h.length and tvb:len() > at + h.length then
		tree:add(f.padding, tvb(at + h.length))
	end
	-- captured with a snapshot length
	if tvb:len() < at + h.length or h.length == 0 then
		return nil
	end
	local payload = tvb(at, h.length)
	if proto.prefs.payload_crc and h.type ~= T_PACKET then
		local crc = crc32c(payload:raw())
		if crc == h.payload_crc then
			item.payload_crc:append_text(" (right)")
		elseif h.type == T_DATA and h.payload_crc == 0 then
			item.payload_crc:add_proto_expert_info(e.unchecked)
		else
			item.payload_crc:add_proto_expert_info(e.payload_crc,
				string.format("Payload CRC32C wrong: should be 0x%08x", crc))
		end
	end
	return payload:tvb()
end

local function data_info(h, info)
	info[#info + 1] = string.format("op %u ch %u round %u offset %s length %u", h.op, h.channel,
		h.round, tostring(h.offset), h.length)
	if bit.band(h.flags, 2) ~= 0 then
		info[#info + 1] = "retransmission"
	end
	if bit.band(h.flags, 4) ~= 0 then
		info[#info + 1] = "probe"
	end
end

local function packet_info(h, item, info)
	item.digest:append_text(" (of the flow)")
	if h.dst == NONE then
		item.op:append_text(" (number of the packet)")
		info[#info + 1] = string.format("number %u", h.op)
	end
end

-- The frame in a packet, as if it had come by itself; its columns are behind those of the packet.
local function dissect_inner(tvb, pinfo, root, info)
	pinfo.cols.info = table.concat(info, ", ") .. ": "
	pinfo.cols.info:fence()
	-- what it throws at malformed ones is in its notes
	pcall(Dissector.call, Dissector.get("eth_withoutfcs"), tvb, pinfo, root)
end

-- Returns the frame in a packet, if there is one.
local function dissect_body(tvb, tree, h, item, info)
	local acks_end = HDR + h.acks * ACK
	if h.type == T_DATA then
		data_info(h, info)
	elseif h.type == T_ECHO then
		local answer = bit.band(h.flags, 16) ~= 0
		info[#info + 1] = string.format("%s %u", answer and "answer" or "test", h.op)
		if answer and h.offset > UInt64(0) then
			info[#info + 1] = string.format("damaged %s", tostring(h.offset - UInt64(1)))
		end
	elseif h.type == T_PACKET then
		packet_info(h, item, info)
	end
	for i = 0, h.acks - 1 do
		dissect_ack(tvb, HDR + i * ACK, tree, info)
	end
	local payload = dissect_payload(tvb, acks_end, h, item, tree)
	if not payload then
		if h.length == 0 and (h.type == T_HELLO or h.type == T_ABORT or h.type == T_COMM) then
			item.length:add_proto_expert_info(e.short)
		end
	elseif h.type == T_HELLO then
		dissect_hello(payload, tree, info)
	elseif h.type == T_ABORT then
		dissect_abort(payload, tree, info)
	elseif h.type == T_COMM then
		dissect_join(payload, tree, info)
	elseif h.type == T_PACKET and h.length >= ETHER then
		return payload
	else
		tree:add(f.payload, payload())
	end
end

local function nodes(h)
	return string.format("%u -> %s", h.src, h.dst == NONE and "all" or string.format("%u", h.dst))
end

function proto.dissector(tvb, pinfo, root)
	local tree = root:add(proto, tvb())
	local info = {}
	local inner

	pinfo.cols.protocol = "torcoll"
	if tvb:len() < HDR then
		tree:add_proto_expert_info(e.short)
		pinfo.cols.info = "Shorter than a header"
		return tvb:len()
	end
	if tvb(0, 1):uint() ~= VERSION then
		-- whatever follows may mean something else
		local _, item = add(tree, f.version, tvb(0, 1))
		item:add_proto_expert_info(e.version)
		pinfo.cols.info = string.format("Unknown version %u", tvb(0, 1):uint())
		return tvb:len()
	end

	local h, item = dissect_header(tvb, tree)
	check_header(h, item)
	info[1] = (types[h.type] or string.format("type %u", h.type)) .. " " .. nodes(h)
	if h.acks > ACKS_MAX then
		item.acks:add_proto_expert_info(e.acks)
	elseif tvb:reported_len() < HDR + h.acks * ACK then
		item.acks:add_proto_expert_info(e.short)
	elseif tvb:len() >= HDR + h.acks * ACK then
		local crc = header_crc(tvb, HDR + h.acks * ACK)
		if crc == h.header_crc then
			item.header_crc:append_text(" (right)")
		else
			item.header_crc:add_proto_expert_info(e.header_crc,
				string.format("Header CRC32C wrong: should be 0x%08x", crc))
		end
		inner = dissect_body(tvb, tree, h, item, info)
	end
	pinfo.cols.info = table.concat(info, ", ")
	tree:append_text(", " .. info[1])
	if inner then
		dissect_inner(inner, pinfo, root, info)
	end
	return tvb:len()
end

-- ---- registration ----

local ethertypes = DissectorTable.get("ethertype")
local registered = proto.prefs.ethertype

ethertypes:add(registered, proto)

function proto.prefs_changed()
	if proto.prefs.ethertype ~= registered then
		ethertypes:remove(registered, proto)
		registered = proto.prefs.ethertype
		ethertypes:add(registered, proto)
	end
end

-- ---- surveys ----

-- Frames of another EtherType, as linux/torcoll_survey.h has them. A member is { name, bytes, title, values }; of 6 bytes it is
-- an address, of 16 and 64 text, of 24 the six sides; a record in a record has the layout of that name.
local survey = Proto("torcoll_survey", "torcoll survey")

local layouts = {
	header = {
		{ "version", 1, "Version" },
		{ "type", 1, "Type", { "ask", "report", "train", "ping", "pong", "mark", "marked" } },
		{ "hop_limit", 1, "Hop limit" }, { "flags", 1, "Flags (1: test, 2: last, 4: sure)" }, { "crc", 4, "CRC32C" },
		{ "survey", 8, "Survey" }, { "round", 4, "Round" }, { "length", 4, "Length behind" },
		{ "host", 8, "Host" }, { "stamp", 8, "Stamp" },
	},
	train = { { "train", 4, "Train, or trains sent" }, { "frames", 4, "Frames of a train" } },
	["end"] = {
		{ "host", 8, "Host" }, { "mac", 6, "Address" }, { "reserved", 2, "Reserved" },
		{ "device", 16, "Device" }, { "mtu", 4, "MTU" }, { "fabric", 4, "Fabric tag" },
	},
	host = {
		{ "host", 8, "Host" }, { "name", 64, "Name" }, { "version", 16, "Module version" },
		{ "round", 4, "Round" }, { "part", 2, "Part" }, { "parts", 2, "Parts" },
	},
	node = {
		{ "key", 8, "Key" }, { "tag", 4, "Tag" }, { "node", 4, "Node" }, { "epoch", 4, "Epoch" },
		{ "side", 24, "Side" }, { "cables", 4, "Cables" }, { "hello_ms", 4, "Hello interval (ms)" },
		{ "rates", 4, "Hash of the rates" }, { "comms", 4, "Comms" }, { "ops", 4, "Ops" },
		{ "reached", 4, "Nodes reached" }, { "dead_links", 4, "Dead links" }, { "view", 4, "View" },
		{ "ethertype", 2, "EtherType" }, { "checksum", 1, "Checksum", { [0] = "full", "header" } },
		{ "byte_order", 1, "Byte order", { [0] = "little", "big" } },
		{ "retransmits", 8, "Retransmits" },
	},
	port = {
		{ "own", "end", "Own end" }, { "peer", "end", "Other end" }, { "flags", 2, "Flags" },
		{ "state", 1, "State of the link" }, { "dim", 1, "Dimension" },
		{ "dir", 1, "Direction", dirs }, { "reserved", 3, "Reserved" }, { "key", 8, "Fabric" },
		{ "speed", 4, "Speed (Mbit/s)" }, { "expected", 4, "Node expected" },
		{ "heard", 4, "Node heard" }, { "heard_tag", 4, "Fabric tag heard" },
		{ "since_ms", 4, "Since (ms)" }, { "downs", 4, "Downs" }, { "rx_frames", 8, "Received" },
		{ "tx_frames", 8, "Sent" }, { "lost", 8, "Lost" }, { "damaged", 8, "Damaged" },
		{ "resent", 8, "Sent again" }, { "pings", 4, "Pings" }, { "pongs", 4, "Answered" },
		{ "pinged", 4, "Pings received" }, { "rtt_min_ns", 4, "Shortest round trip (ns)" },
		{ "rtt_median_ns", 4, "Median round trip (ns)" }, { "rate", 4, "Rate (Mbit/s)" },
		{ "train", 4, "Frames of trains received" }, { "trains", 4, "Frames of trains sent" }, { "bad", 4, "Damaged in the test" },
		{ "tested_ms", 4, "Tested (ms ago)" },
	},
	rest = { { "nodes", 4, "Fabrics left out" }, { "ports", 4, "Devices left out" } },
}
local kinds = { "end", "host", "node", "port", "rest" }
local SURVEY, SURVEY_RECORD = 40, 4
local survey_version = 1

local s = survey.fields
s.crc_right = ProtoField.bool("torcoll_survey.crc_right", "CRC32C is right")
s.record = ProtoField.none("torcoll_survey.record", "Record")

local function survey_field(layout, member)
	local name = "torcoll_survey." .. (layout == "header" and "" or layout .. ".") .. member[1]
	local bytes, title, values = member[2], member[3], member[4]

	if bytes == 6 then
		return ProtoField.ether(name, title)
	elseif bytes == 16 or bytes == 64 then
		return ProtoField.stringz(name, title)
	elseif bytes == 8 then
		return ProtoField.uint64(name, title, base.HEX_DEC)
	end
	local integer = { ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32 }

	return (integer[bytes] or ProtoField.uint32)(name, title, base.DEC, values)
end

for layout, members in pairs(layouts) do
	for _, member in ipairs(members) do
		if type(member[2]) == "number" then
			member.field = layout .. "_" .. member[1]
			s[member.field] = survey_field(layout, member)
		end
	end
end

-- Puts as many members as there are bytes, and returns those that follow.
local function survey_members(tvb, tree, layout)
	local at = 0
	for _, member in ipairs(layouts[layout]) do
		local bytes = member[2]
		if type(bytes) == "string" then
			if at + SURVEY <= tvb:len() then
				survey_members(tvb(at, SURVEY):tvb(), tree:add(s.record, tvb(at, SURVEY)):set_text(member[3]),
					bytes)
			end
			bytes = SURVEY
		elseif at + bytes > tvb:len() then
			return at
		elseif bytes == 24 then
			for i = 0, 5 do
				local side = tvb(at + 4 * i, 4)
				local item = tree:add(s[member.field], side)
				if side_kind(side:uint()) > 0 then
					item:append_text(string.format(" (%s)", side_text(side:uint())))
				end
			end
		else
			tree:add(s[member.field], tvb(at, bytes))
		end
		at = at + bytes
	end
	return at
end

local function survey_records(tvb, tree)
	local at = 0
	while at + SURVEY_RECORD <= tvb:len() do
		local kind, length = tvb(at, 2):uint(), tvb(at + 2, 2):uint()
		local there = math.min(length, tvb:len() - at - SURVEY_RECORD)
		local t = tree:add(s.record, tvb(at, SURVEY_RECORD + there))
		t:set_text("Record: " .. (kinds[kind] or string.format("kind %u", kind)))
		if kinds[kind] and there > 0 then
			survey_members(tvb(at + SURVEY_RECORD, there):tvb(), t, kinds[kind])
		end
		at = at + SURVEY_RECORD + there
	end
end

local function survey_crc(tvb, length)
	local raw = tvb(0, SURVEY + length):raw()
	return crc32c(raw:sub(1, 2) .. "\0" .. raw:sub(4, 4) .. "\0\0\0\0" .. raw:sub(9))
end

function survey.dissector(tvb, pinfo, root)
	local tree = root:add(survey, tvb())
	pinfo.cols.protocol = "torcoll survey"
	if tvb:len() < SURVEY or tvb(0, 1):uint() ~= survey_version then
		pinfo.cols.info = "Too short, or of another version"
		return tvb:len()
	end
	survey_members(tvb(0, SURVEY):tvb(), tree, "header")
	local kind, length = tvb(1, 1):uint(), tvb(20, 4):uint()
	local right = SURVEY + length <= tvb:len() and survey_crc(tvb, length) == tvb(4, 4):uint()
	tree:add(s.crc_right, tvb(4, 4), right):set_generated()
	-- tests have padding instead, of trains and marks behind eight bytes
	if right and kind <= 2 and length > 0 then
		survey_records(tvb(SURVEY, length):tvb(), tree)
	elseif right and (kind == 3 or kind == 6) and length > 0 then
		survey_members(tvb(SURVEY, length):tvb(), tree, "train")
	end
	pinfo.cols.info = string.format("%s, round %u%s", layouts.header[2][4][kind] or string.format("type %u", kind),
		tvb(16, 4):uint(), right and "" or ", damaged")
	return tvb:len()
end

ethertypes:add(0x88b6, survey)
